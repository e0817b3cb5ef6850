import type { LockStore, NodeNotice } from 'nest-holdfast/core';
import { FakeClock } from 'nest-holdfast/testing';
import { RedlockNode } from '../../../../lib/stores/redlock/node/redlock-node.js';

/** A node, its server as a test has it, and what it tells. */
function aNode() {
  const clock = new FakeClock(50_000);
  const server = { isReady: true, losses: 3 };
  const store = { name: 'own', server } as unknown as LockStore;
  const told: string[] = [];
  const node = new RedlockNode('a', store, clock, ({ node: name, state, reason }: NodeNotice) => {
    told.push(`${name} ${state}: ${reason}`);
  });
  const record = { isKnown: true, bar: undefined as string | undefined };
  node.record = record;
  const miss = (times: number) => {
    for (let time = 0; time < times; time++) {
      node.asked();
      node.missed(true);
    }
  };
  return { clock, server, node, told, record, miss };
}

const HANGS = 'a suspended: it did not answer 3 times in a row';

describe('A node of a Redlock', () => {
  it('is up, fit to queue at, and asked', () => {
    const { node } = aNode();
    expect(node).toMatchObject({ state: 'up', isFit: true, isSuspended: false, losses: 3 });
    expect([node.unreachable, node.barred, node.overloaded]).toEqual([undefined, undefined, undefined]); // prettier-ignore
  });

  it('is disconnected while its server is away, and says why where that is known', () => {
    const { node, server } = aNode();
    server.isReady = false;
    expect(node).toMatchObject({ state: 'disconnected', isFit: false });
    expect(node.unreachable).toBe('refused (not connected)');
    const connectionFailure = jest.fn().mockReturnValue(new Error('ECONNREFUSED'));
    Object.assign(node.store, { connectionFailure });
    expect(node.unreachable).toBe('refused (not connected: ECONNREFUSED)');
    expect(connectionFailure.mock.calls).toEqual([[false]]);
  });

  it('has no vote while its record says so', () => {
    const { node, record } = aNode();
    record.bar = 'quarantined';
    expect(node).toMatchObject({ state: 'quarantined', isFit: false, barred: 'quarantined' });
    expect(node.unreachable).toBeUndefined();
  });

  it('without a server is never away, and has lost no connection', () => {
    const store = { name: 'own' } as unknown as LockStore;
    const node = new RedlockNode('a', store, new FakeClock(0), () => undefined);
    expect(node).toMatchObject({ state: 'up', losses: 0, barred: undefined });
  });

  it('is suspended when it misses three votes in a row that others settle', () => {
    const { node, told, miss } = aNode();
    miss(2);
    expect(node.isSuspended).toBe(false);
    expect(node.unreachable).toBeUndefined();
    miss(1);
    expect(node).toMatchObject({ state: 'suspended', isFit: false, isSuspended: true });
    expect(node.unreachable).toBe('suspended for 100 ms (it does not answer)');
    expect(told).toEqual([HANGS]);
  });

  it('is not suspended by votes that nobody settled, nor after an answer in time', () => {
    const { node, told, miss } = aNode();
    miss(2);
    node.asked();
    node.missed(false);
    expect(node.isSuspended).toBe(false);
    node.asked();
    node.answered(true);
    miss(2);
    expect(node.isSuspended).toBe(false);
    node.asked();
    node.answered(false); // late: it lives, and is of no use
    miss(1);
    expect(node.isSuspended).toBe(true);
    expect(told).toEqual([HANGS]);
  });

  it('is asked by one call after a pause, which doubles up to two seconds while it is silent', () => {
    const { clock, node, told, miss } = aNode();
    miss(3);
    const pauses: number[] = [];
    for (let probe = 0; probe < 7; probe++) {
      const [, ms] = /for (\d+) ms/.exec(node.unreachable!)!;
      pauses.push(Number(ms));
      clock.jump(Number(ms));
      expect(node.unreachable).toBeUndefined();
      node.asked();
      expect(node.unreachable).toBe(`suspended for ${ms} ms (it does not answer)`); // for the others
      node.missed(true);
    }
    expect(pauses).toEqual([100, 200, 400, 800, 1_600, 2_000, 2_000]);
    expect(told).toEqual([HANGS]);
  });

  it('keeps its pause while calls from before it was suspended are missed', () => {
    const { node, miss, clock } = aNode();
    miss(3);
    clock.jump(40);
    node.missed(true);
    node.missed(true);
    expect(node.unreachable).toBe('suspended for 60 ms (it does not answer)');
  });

  it('recovers with an answer in time, and begins with the first pause again', () => {
    const { clock, node, told, miss } = aNode();
    miss(3);
    clock.jump(100);
    node.asked();
    node.missed(true);
    clock.jump(200);
    node.asked();
    node.answered(true);
    expect(node).toMatchObject({ state: 'up', isSuspended: false, unreachable: undefined });
    expect(told).toEqual([HANGS, 'a recovered: it answers again']);
    miss(3);
    expect(node.unreachable).toBe('suspended for 100 ms (it does not answer)');
    expect(told).toHaveLength(3);
  });

  it('tells of no recovery where it was not suspended', () => {
    const { node, told, miss } = aNode();
    miss(1);
    node.asked();
    node.answered(true);
    expect(told).toEqual([]);
  });

  it('that hangs is suspended at once', () => {
    const { node, told } = aNode();
    node.silent('it has not answered for 1000 ms');
    expect(node.isSuspended).toBe(true);
    expect(told).toEqual(['a suspended: it has not answered for 1000 ms']);
  });

  it('gets no more than a thousand calls while it is behind', () => {
    const { node } = aNode();
    for (let call = 0; call < 1_000; call++) node.asked();
    expect(node.overloaded).toBeUndefined();
    node.missed(false);
    expect(node.overloaded).toBe('timeout (1000 calls are open)');
    expect(node.unreachable).toBe(node.overloaded);
    node.answered(false);
    expect(node.overloaded).toBeUndefined();
    node.asked();
    expect(node.overloaded).toBeUndefined(); // it has answered since
    node.answered(false);
    node.missed(false);
    expect(node.overloaded).toBeUndefined(); // 999 are open
  });

  it('tells its waiters when it is no longer fit, but not when it recovers', () => {
    const { node } = aNode();
    let moved = 0;
    const stop = node.whenUnfit(() => moved++);
    node.tell('recovered', 'it answers again');
    expect(moved).toBe(0);
    node.tell('quarantined', 'its server has restarted');
    node.unfit();
    expect(moved).toBe(2);
    stop();
    node.unfit();
    expect(moved).toBe(2);
  });
});
