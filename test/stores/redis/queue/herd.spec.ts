import type { Lock } from 'nest-holdfast';
import { RedisServer } from '../../../support/servers/redis-server.js';
import { AppInstance, inLine, standing } from '../../support/app-instance.js';
import { ServerLog } from '../../support/server-log.js';

const PROCESSES = 5;
const CALLERS = 64;

describe('A release wakes no herd:', () => {
  let server: RedisServer;
  let processes: AppInstance[];

  beforeEach(async () => {
    server = await RedisServer.shared();
    processes = Array.from({ length: PROCESSES }, () => new AppInstance(server.url));
  });

  afterEach(async () => {
    await Promise.all(processes.map((each) => each[Symbol.asyncDispose]()));
    await server.stop();
  });

  it('of 64 callers in one process, the server sees one in line', async () => {
    const [holder, waiter] = processes as [AppInstance, AppInstance];
    const held = await holder.locks.acquire('order:42');
    const counts: number[] = [];
    const callers = Array.from({ length: CALLERS }, () =>
      waiter.locks.withLock('order:42', async () => {
        counts.push((await inLine(server, 'order:42')).length);
      }),
    );
    await standing(server, 'order:42', 1);
    await waiter.redis.ping(); // all that they sent has arrived
    expect(await inLine(server, 'order:42')).toHaveLength(1);
    await held.release();
    await Promise.all(callers);
    expect(counts).toEqual(Array.from({ length: CALLERS }, () => 0));
  });

  it('each wakes one process, and the last one none', async () => {
    const first = await processes[0]!.locks.acquire('order:42');
    await using log = await ServerLog.of(server);
    const waiting = await oneByOne(processes.slice(1));
    const told = await log.take('publish');
    expect(told.filter(([, , text]) => !text!.startsWith('!'))).toEqual([]);

    let held: Lock = first;
    for (const next of waiting) {
      await held.release();
      held = await next;
      expect(await log.take('publish')).toHaveLength(1);
    }
    await held.release();
    expect(await log.take('publish')).toEqual([]);
  });

  it('each of many wakes one process, while all of them want the key again and again', async () => {
    const [holder, ...others] = processes;
    const first = await holder!.locks.acquire('order:42');
    await using log = await ServerLog.of(server);
    const cycles = others.map(async ({ locks }) => {
      for (let cycle = 0; cycle < 10; cycle += 1) await locks.withLock('order:42', async () => {});
    });
    await standing(server, 'order:42', others.length);
    await first.release();
    await Promise.all(cycles);
    const wakeUps = (await log.take('publish')).filter(([, , text]) => !text!.startsWith('!'));
    expect(wakeUps.length).toBeLessThanOrEqual(10 * others.length);
    expect(new Set(wakeUps.map(([, , text]) => text)).size).toBe(wakeUps.length);
  });

  it('a key that runs out is handed to one, though all of them look for it', async () => {
    await server.command('SET', 'lock:order:42', 'foreign', 'PX', 600_000);
    const waiting = await oneByOne(processes);
    await server.command('PEXPIRE', 'lock:order:42', 400);
    await using log = await ServerLog.of(server);
    const lock = await waiting[0]!;
    expect((await log.take('publish')).length).toBeLessThanOrEqual(1); // none where it looked itself
    expect(await inLine(server, 'order:42')).toHaveLength(PROCESSES - 1);
    await lock.release();
    for (const next of waiting.slice(1)) await (await next).release();
  });

  /** They stand in line in their order. */
  async function oneByOne(each: readonly AppInstance[]): Promise<Promise<Lock>[]> {
    const waiting: Promise<Lock>[] = [];
    for (const { locks } of each) {
      waiting.push(locks.acquire('order:42'));
      await standing(server, 'order:42', waiting.length);
    }
    return waiting;
  }
});
