import { ChildProcess } from '../support/processes/child-process.js';
import { RedisServer } from '../support/servers/redis-server.js';
import { until } from '../support/until.js';
import type { Job, TickMessage } from '../support/histories/workers/ticks.worker.js';

/** Milliseconds that the clock of each machine is ahead of the true time. */
const SKEWS = [0, 2_000, -2_000, 700];
const INTERVAL = 1_500;
/** So many ticks are run at once when the machines start: the last clock is so many seconds behind the first. */
const SPREAD = 4;
/** Each tick before that of the kill has been asked for by the last machine. */
const TICKS_BEFORE_KILL = SPREAD + 5;
const TICKS_AFTER_KILL = 5;

type Machine = ChildProcess<'go' | 'close', TickMessage>;

describe('Jobs of four processes whose clocks are up to four seconds apart', () => {
  let server: RedisServer;
  let machines: Machine[];
  let killed: Machine;
  let killedAt: string;

  beforeAll(async () => {
    server = await RedisServer.start();
    machines = SKEWS.map(
      (skew) =>
        new ChildProcess('test/support/histories/workers/ticks.worker.ts', {
          args: [server.url, String(skew), String(INTERVAL)],
        }),
    );
    await Promise.all(machines.map((machine) => machine.next()));
    for (const machine of machines) machine.send('go');
    await moreTicks(TICKS_BEFORE_KILL);
    await killOneAtWork();
    await moreTicks(TICKS_AFTER_KILL);
    await until(() => keys('long').at(-1)! > killedAt, { within: 30_000, every: 50 });
    for (const machine of survivors()) machine.send('close');
    await Promise.all(machines.map((machine) => machine.exited));
  });

  afterAll(async () => {
    await Promise.all(machines.map((machine) => machine.kill()));
    await server.stop();
  });

  const survivors = () => machines.filter((machine) => machine !== killed);

  async function moreTicks(count: number): Promise<void> {
    const enough = keys('cron').length + count;
    await until(() => keys('cron').length >= enough, { within: 40_000, every: 50 });
  }

  /** The job that it kills goes on for ever, so the process that has begun it is still at work. */
  async function killOneAtWork(): Promise<void> {
    killed = await until(() => machines.find((each) => keysOf(each, 'long').length > 0));
    killedAt = keysOf(killed, 'long').at(-1)!;
    await killed.kill();
  }

  function keysOf({ messages }: Machine, job: Job): string[] {
    return messages.flatMap((each) => (isTick(each) && each.job === job ? [each.key] : []));
  }

  function keys(job: Job): string[] {
    return machines.flatMap((machine) => keysOf(machine, job)).toSorted();
  }

  it.each([
    ['cron', 1_000],
    ['interval', INTERVAL],
    ['long', 4_000],
  ] as const)('%s: no tick runs twice, and none is left out', (job, period) => {
    const ran = keys(job);
    const due = ran.map((key) => Date.parse(key.slice(job.length + 1)));
    expect(due.map((time) => time % period)).toEqual(due.map(() => 0));
    expect(due).toEqual([...new Set(due)]);
    // A timer may pass by a tick, which a machine whose clock is behind runs then: the end may have come before.
    const asked = due.filter((time) => time <= due.at(-1)! - SPREAD * 1_000);
    expect(asked).toEqual(asked.map((_, index) => due[0]! + index * period));
    expect(asked.length).toBeGreaterThan(0);
    expect(ran.length).toBeGreaterThan(1);
  });

  it('the tick of a process that was killed at work is run by no other, and the next one is', () => {
    const ran = keys('long');
    expect(ran.filter((key) => key === killedAt)).toHaveLength(1);
    expect(ran.at(-1)! > killedAt).toBe(true);
  });

  it('all machines took part: their schedulers called, and more than one had ticks', () => {
    for (const { messages } of survivors()) {
      const calls = messages.flatMap((each) =>
        each instanceof Object && 'calls' in each ? [each.calls] : [],
      );
      expect(calls).toEqual([expect.any(Number)]);
      expect(calls[0]).toBeGreaterThanOrEqual(TICKS_AFTER_KILL);
    }
    const busy = machines.filter((machine) => keysOf(machine, 'cron').length > 0);
    expect(busy.length).toBeGreaterThan(1);
  });

  it('leaves nothing in Redis that does not expire', async () => {
    const left = (await server.command('KEYS', '*')) as string[];
    expect(left.length).toBeGreaterThan(TICKS_AFTER_KILL); // the ticks are still taken
    const ttls = await Promise.all(left.map((key) => server.command('PTTL', key)));
    expect(ttls.filter((ttl) => Number(ttl) === -1)).toEqual([]);
  });
});

function isTick(message: TickMessage): message is { readonly job: Job; readonly key: string } {
  return message instanceof Object && 'job' in message;
}
