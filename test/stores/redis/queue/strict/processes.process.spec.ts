import type { Lock } from 'nest-holdfast';
import { AppInstance, standing } from '../../../support/app-instance.js';
import { ChildProcess } from '../../../../support/processes/child-process.js';
import { RedisServer } from '../../../../support/servers/redis-server.js';
import { until } from '../../../../support/until.js';
import { inTime } from '../../../../support/faults/in-time.js';
import { nothingLeft } from '../../../../support/faults/left-behind.js';
import type {
  CallersMessage,
  CallersOrder,
} from '../../../../support/faults/workers/callers.worker.js';

const KEY = 'order:42';
const CALLERS = 32;
/**
 * Ten times what it takes: a key is kept for a second for a waiter that does not answer, and the next one looks a beat later, at
 * the latest. A second for each of the callers would be twice as much.
 */
const ONE_CLAIM = 16_670;

type Process = ChildProcess<CallersOrder, CallersMessage>;

describe('localPassLimit: 0, for several real processes with 32 callers each,', () => {
  let server: RedisServer;
  let own: AppInstance;
  let held: Lock;
  const processes: Process[] = [];

  beforeEach(async () => {
    server = await RedisServer.start();
    own = new AppInstance(server.url, { localPassLimit: 0 });
    held = await own.locks.acquire(KEY);
  });

  afterEach(async () => {
    await Promise.all(processes.splice(0).map((each) => each.kill()));
    await own[Symbol.asyncDispose]();
    await server.stop();
  });

  async function start(count: number): Promise<Process[]> {
    const made = Array.from(
      { length: count },
      (): Process =>
        new ChildProcess('test/support/faults/workers/callers.worker.ts', { args: [server.url] }),
    );
    processes.push(...made);
    await Promise.all(made.map((each) => each.received((message) => message === 'ready')));
    return made;
  }

  const servedBy = (all: readonly Process[]) =>
    all.flatMap(({ messages }) => messages.filter((message) => message !== 'ready'));

  it('serves all in the order in which they asked', async () => {
    const all = await start(4);
    for (let asked = 1; asked <= 4 * CALLERS; asked++) {
      all[asked % 4]!.send({ callers: 1 });
      await standing(server, KEY, asked); // however slow this machine is, that one is before the next
    }
    await held.release();
    await until(() => servedBy(all).length === 4 * CALLERS, { what: 'all to be served' });
    const byGrant = servedBy(all).toSorted((a, b) => a.granted - b.granted);
    expect(byGrant).toEqual(byGrant.toSorted((a, b) => a.asked - b.asked));
    await nothingLeft(server);
  });

  it('skips all places of one that was killed by the very script that releases', async () => {
    const [first] = (await start(1)) as [Process];
    first.send({ callers: CALLERS });
    await standing(server, KEY, CALLERS);
    const waiting = own.locks.acquire(KEY);
    await standing(server, KEY, CALLERS + 1);
    await first.kill();
    const channels = async () => (await server.command('PUBSUB', 'CHANNELS', '*')) as string[];
    await until(async () => (await channels()).length === 1);
    await held.release();
    expect(Number(await server.command('EXISTS', `{lock:${KEY}}:line`))).toBe(0);
    await (await waiting).release();
    await nothingLeft(server);
  });

  it('loses one claim to one that hangs, and serves its callers later', async () => {
    const [first] = (await start(1)) as [Process];
    first.send({ callers: CALLERS });
    await standing(server, KEY, CALLERS);
    const waiting = own.locks.acquire(KEY);
    await standing(server, KEY, CALLERS + 1);
    first.pause();
    await outlive(600_000); // however slow this machine is, they are taken for alive
    await held.release();
    const lock = await inTime(ONE_CLAIM, waiting);
    expect(servedBy([first])).toEqual([]);
    first.resume();
    await standing(server, KEY, CALLERS);
    await lock.release();
    await until(() => servedBy([first]).length === CALLERS, { what: 'all to be served' });
    await nothingLeft(server);
  });

  /** The deadlines of all places are so much later. */
  async function outlive(ms: number): Promise<void> {
    const line = `{lock:${KEY}}:line`;
    const members = (await server.command('ZRANGEBYSCORE', line, 1e12, '+inf')) as string[];
    for (const member of members) await server.command('ZINCRBY', line, ms, member);
    await server.command('PEXPIRE', line, ms);
  }
});
