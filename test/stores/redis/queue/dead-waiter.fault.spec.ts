import type { Lock } from 'nest-holdfast';
import { AppInstance, inLine, standing } from '../../support/app-instance.js';
import { ServerLog } from '../../support/server-log.js';
import { ChildProcess } from '../../../support/processes/child-process.js';
import { RedisServer } from '../../../support/servers/redis-server.js';
import { until } from '../../../support/until.js';
import { inTime } from '../../../support/faults/in-time.js';
import { nothingLeft } from '../../../support/faults/left-behind.js';
import type { WaiterMessage, WaiterOrder } from '../../../support/faults/workers/waiter.worker.js';
import { type Ask, type InLine, setDeadline } from '../../../support/redis-line.js';

const TTL = 30_000;
/** The server takes a waiter for alive so long after it was last heard of. */
const HEARTBEAT = 2_000;
/** Milliseconds that a key is kept for a waiter that does not answer. The next waiter looks a heartbeat later, at the latest. */
const CLAIM = 1_000;

describe('A dead waiter at the head of the line', () => {
  let server: RedisServer;
  let first: ChildProcess<WaiterOrder, WaiterMessage>;
  let holder: AppInstance;
  let second: AppInstance;
  let held: Lock;
  let waiting: Promise<Lock>;

  beforeEach(async () => {
    server = await RedisServer.start();
    first = new ChildProcess('test/support/faults/workers/waiter.worker.ts', {
      args: [server.url, String(TTL)],
    });
    holder = new AppInstance(server.url, { ttl: TTL });
    second = new AppInstance(server.url, { ttl: TTL });
    await first.received((message) => message === 'ready');
    held = await holder.locks.acquire('order:42');
    first.send('wait');
    await standing(server, 'order:42', 1);
    waiting = second.locks.acquire('order:42');
    await standing(server, 'order:42', 2);
  });

  afterEach(async () => {
    await first.kill();
    await Promise.all([holder, second].map((each) => each[Symbol.asyncDispose]()));
    await server.stop();
  });

  const value = () => server.command('GET', 'lock:order:42') as Promise<string | null>;
  const handedTo = async (log: ServerLog, { pid }: { pid: number }) =>
    (await log.take('publish')).some(([, , text]) => text!.includes(`:${pid}:`));

  /** It is taken for alive, however slow this machine is, and answers nothing. */
  async function hang(): Promise<void> {
    first.pause();
    const [waiter] = (await inLine(server, 'order:42')) as [InLine];
    const ask: Ask = (...words) => server.command(...words);
    await setDeadline(ask, 'lock:order:42', waiter, waiter.deadline + TTL);
  }

  const isOf = async (process: { pid: number }) => (await value())?.includes(`:${process.pid}:`);

  it('that was killed is skipped by the very script that releases', async () => {
    await first.kill();
    const channels = async () => (await server.command('PUBSUB', 'CHANNELS', '*')) as string[];
    await until(async () => (await channels()).length === 1);
    await using log = await ServerLog.of(server);
    await held.release();
    const told = await log.take('publish');
    expect(await isOf(process)).toBe(true);
    expect(told).toHaveLength(2); // the dead one, and the one behind
    expect(await (await inTime(CLAIM, waiting)).release()).toBe(true);
    await nothingLeft(server);
  });

  it('that hangs longer than its heartbeat is skipped, and gets the key later', async () => {
    first.pause();
    const deadline = async () => Number((await inLine(server, 'order:42'))[0]?.deadline);
    const hungUntil = await deadline();
    const now = async () => {
      const [seconds, micros] = (await server.command('TIME')) as [string, string];
      return Number(seconds) * 1_000 + Number(micros) / 1_000;
    };
    await until(async () => (await now()) > hungUntil, { what: 'the heartbeat to be over' });
    await held.release();
    expect(await isOf(process)).toBe(true);
    const lock = await waiting;
    expect(await inLine(server, 'order:42')).toEqual([]);

    first.resume();
    await standing(server, 'order:42', 1);
    expect(await lock.release()).toBe(true);
    await first.received((message) => message === 'held');
    first.send('release');
    await first.received((message) => message === 'released');
    await nothingLeft(server);
  });

  it('that hangs when it is handed the key costs one claim, and gets the key later', async () => {
    await hang();
    await using log = await ServerLog.of(server);
    await held.release();
    expect(await handedTo(log, first)).toBe(true);
    expect(Number(await server.command('PTTL', 'lock:order:42'))).toBeLessThanOrEqual(CLAIM);
    const lock = await inTime(HEARTBEAT, waiting);
    expect(await isOf(process)).toBe(true);

    first.resume();
    await standing(server, 'order:42', 1);
    expect(first.messages).not.toContain('held'); // it was handed the key, and has lost it since
    expect(await lock.release()).toBe(true);
    await first.received((message) => message === 'held');
    expect(await isOf(first)).toBe(true);
    first.send('release');
    await first.received((message) => message === 'released');
    await nothingLeft(server);
  });

  it('that dies after it was handed the key costs one claim', async () => {
    await hang();
    await using log = await ServerLog.of(server);
    await held.release();
    expect(await handedTo(log, first)).toBe(true);
    await first.kill();
    expect(await (await inTime(HEARTBEAT, waiting)).release()).toBe(true);
    await nothingLeft(server);
  });
});
