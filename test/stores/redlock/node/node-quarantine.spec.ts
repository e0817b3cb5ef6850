import type { ServerVitals } from 'nest-holdfast/core';
import { FakeClock } from 'nest-holdfast/testing';
import { NodeQuarantine } from '../../../../lib/stores/redlock/node/node-quarantine';
import { RedlockNode } from '../../../../lib/stores/redlock/node/redlock-node';
import type { Quarantine } from '../../../../lib/stores/redlock/node/redlock-options';
import { deferred } from '../../../core/support/outcome';
import { StubNode } from '../support/stub-node';
import { settled } from '../support/stub-quorum';

const LARGEST = 10_000;

/** The record of one server, each of whose readings a test answers. */
function own(mode: Quarantine = true) {
  const clock = new FakeClock(50_000);
  const readings: ReturnType<typeof deferred<ServerVitals>>[] = [];
  const link = {
    address: 'a',
    isReady: true,
    losses: 0,
    onReady: jest.fn(),
    onLost: jest.fn(),
    vitals: () => {
      readings.push(deferred());
      return readings.at(-1)!.promise;
    },
  };
  const told: string[] = [];
  const node = new RedlockNode('a', new StubNode(clock), clock, ({ state, reason }) => {
    told.push(`${state}: ${reason}`);
  });
  const rules = { clock, mode, largestTtl: LARGEST };
  const record = new NodeQuarantine(node, link, rules);
  const answer = async (index: number, vitals: Partial<ServerVitals> = {}) => {
    readings[index]!.resolve({ runId: 'one', upFor: 0, time: clock.now(), ...vitals });
    await settled();
  };
  /** Reads the server, and gets this answer. */
  const read = async (vitals?: Partial<ServerVitals>) => {
    void record.read();
    await answer(readings.length - 1, vitals);
  };
  return { clock, link, told, rules, record, readings, answer, read };
}

describe('The record of the server behind a node', () => {
  it('is unknown before it has been read, and says why that failed', async () => {
    const { record, readings, read } = own();
    expect([record.isKnown, record.bar]).toEqual([false, 'quarantined until it is known when it started']); // prettier-ignore
    void record.read();
    readings[0]!.reject(new Error('NOPERM'));
    await settled();
    expect(record.bar).toBe('quarantined until it is known when it started (NOPERM)');
    await read({ upFor: LARGEST });
    expect([record.isKnown, record.bar]).toEqual([true, undefined]);
  });

  it('forgets why a reading failed once there was another', async () => {
    const { record, readings, read, link } = own();
    void record.read();
    readings[0]!.reject(new Error('NOPERM'));
    await settled();
    await read();
    link.losses++;
    expect(record.bar).toBe('quarantined until it is known when it started');
  });

  it('says until when it has no vote', async () => {
    const { record, read } = own();
    const before = Date.now();
    await read({ upFor: 4_000.5 });
    const [, moment, rest] = /until (.*Z) \(in (\d+) ms\)$/.exec(record.bar!)!;
    expect(rest).toBe('6000');
    const ahead = Date.parse(moment!) - before;
    expect(ahead >= 5_999 && ahead < 36_000).toBe(true);
  });

  it('is no bar where quarantine is off, whatever is known', async () => {
    const { record, read, told } = own(false);
    expect(record.bar).toBeUndefined();
    await read();
    await read({ runId: 'two' });
    expect(record.bar).toBeUndefined();
    expect(told).toEqual([]);
  });

  it('counts the age of the server from before the question', async () => {
    const { record, clock, answer } = own();
    void record.read();
    clock.jump(3_000);
    await answer(0, { upFor: 4_000 });
    expect(record.bar).toContain('(in 3000 ms)');
  });

  it('counts no age of a server that it has seen before', async () => {
    const { record, read, told } = own();
    await read({ upFor: LARGEST });
    await read({ runId: 'two', upFor: LARGEST });
    expect(record.bar).toContain(`(in ${LARGEST} ms)`);
    expect(told).toEqual(['quarantined: its server has restarted']);
  });

  it('counts from when the clock of the server was set', async () => {
    const { record, clock, read, told } = own();
    await read({ upFor: LARGEST });
    await read({ time: clock.now() + 60_000 });
    expect(record.bar).toContain(`(in ${LARGEST} ms)`);
    expect(told).toEqual(['quarantined: its clock has jumped']);
    await read({ time: clock.now() + 60_000 });
    expect(told).toHaveLength(1);
  });

  it('notices a clock that was set while a slow answer was on its way: that is too vague to compare with', async () => {
    const { record, clock, answer, read, told } = own();
    await read({ upFor: LARGEST });
    void record.read();
    clock.jump(900);
    await answer(1, { time: clock.now() - 400 });
    expect(told).toEqual([]);
    await read({ time: clock.now() - 400 });
    expect(told).toEqual(['quarantined: its clock has jumped']);
  });

  it('tells once that the server has no vote, and that it has one again', async () => {
    const { record, clock, read, told } = own();
    await read();
    record.announce();
    record.announce();
    expect(told).toEqual(['quarantined: its server has just started']);
    clock.jump(LARGEST);
    expect([record.bar, record.bar]).toEqual([undefined, undefined]);
    const recovered = `recovered: its server has been up for ${LARGEST} ms`;
    expect(told).toEqual(['quarantined: its server has just started', recovered]);
    await read({ runId: 'two' });
    clock.jump(LARGEST);
    expect(record.bar).toBeUndefined();
    expect(told.slice(2)).toEqual(['quarantined: its server has restarted', recovered]);
  });

  it('tells of no recovery where no missing vote was told', async () => {
    const { record, clock, read, told } = own();
    await read();
    clock.jump(LARGEST);
    expect(record.bar).toBeUndefined();
    record.announce();
    expect(told).toEqual([]);
  });

  it('is no bar any more when a larger ttl is used later', async () => {
    const { record, rules, clock, read } = own();
    await read({ upFor: LARGEST });
    expect(record.bar).toBeUndefined();
    rules.largestTtl *= 10;
    expect(record.bar).toBeUndefined();
    await read({ runId: 'two' });
    clock.jump(9 * LARGEST);
    expect(record.bar).toContain(`(in ${LARGEST} ms)`);
  });

  it('is no bar of an admitted server, until that restarts', async () => {
    const { record, read } = own();
    await read();
    record.admit();
    expect(record.bar).toBeUndefined();
    await read();
    expect(record.bar).toBeUndefined();
    await read({ runId: 'two' });
    expect(record.bar).toBeDefined();
  });

  it('says how long a reading has had no answer, and begins no other one meanwhile', async () => {
    const { record, clock, readings, answer } = own();
    expect(record.silence).toBe(0);
    void record.read();
    void record.read();
    clock.jump(300);
    expect([record.silence, readings.length]).toEqual([300, 1]);
    await answer(0);
    expect(record.silence).toBe(0);
    void record.read();
    expect(readings).toHaveLength(2);
  });

  it('is read anew where the connection was lost meanwhile: that answer is of another server', async () => {
    const { record, link, readings, answer, told } = own();
    void record.read();
    link.losses++;
    await answer(0, { runId: 'before' });
    expect([record.isKnown, readings.length]).toEqual([false, 2]);
    await answer(1, { runId: 'now', upFor: LARGEST });
    expect([record.isKnown, record.bar]).toEqual([true, undefined]);
    expect(told).toEqual([]);
  });

  it('waits for the next connection where there is none', async () => {
    const { record, link, readings, answer } = own();
    void record.read();
    link.losses++;
    link.isReady = false;
    await answer(0);
    expect([record.isKnown, readings.length]).toEqual([false, 1]);
    void record.read();
    expect(readings).toHaveLength(2);
  });
});

describe('A server that has just started', () => {
  it('is fresh since its start, until the largest ttl has passed', async () => {
    const { record, clock, read } = own();
    expect(record.freshSince).toBeUndefined();
    await read({ upFor: 1_000 });
    expect(record.freshSince).toBe(49_000);
    clock.jump(LARGEST - 1_001);
    expect(record.freshSince).toBe(49_000);
    clock.jump(1);
    expect(record.freshSince).toBeUndefined();
  });

  it('is not fresh where it, or another one before it, was known', async () => {
    const { record, read } = own();
    await read({ upFor: LARGEST });
    await read({ runId: 'two' });
    expect(record.freshSince).toBeUndefined();
    await read({ runId: 'two' });
    expect(record.freshSince).toBeUndefined();
  });

  it('is not fresh while the connection is another one than it was read on', async () => {
    const { record, link, read } = own();
    await read();
    link.losses++;
    expect(record.freshSince).toBeUndefined();
    await read();
    expect(record.freshSince).toBe(50_000);
  });
});
