import type { Lock } from 'nest-holdfast';
import { inTime } from '../../../support/faults/in-time.js';
import { nothingLeft } from '../../../support/faults/left-behind.js';
import type { WaiterMessage, WaiterOrder } from '../../../support/faults/workers/waiter.worker.js';
import { AppInstance, inLine, standing } from '../../support/app-instance.js';
import { ServerLog } from '../../support/server-log.js';
import { ChildProcess } from '../../../support/processes/child-process.js';
import { RedisServer } from '../../../support/servers/redis-server.js';

/** A machine that stands still for two seconds loses no lock. */
const TTL = 4_000;
/** Milliseconds that a key may stay unused after its holder's ttl: less than the time between two heartbeats. */
const SLACK = 1_000;
const WAITERS = 8;

describe('A holder that is killed while callers wait', () => {
  let server: RedisServer;
  let holder: ChildProcess<WaiterOrder, WaiterMessage>;
  let processes: AppInstance[];
  let waiting: Promise<Lock>[];

  beforeEach(async () => {
    server = await RedisServer.start();
    holder = new ChildProcess('test/support/faults/workers/waiter.worker.ts', {
      args: [server.url, String(TTL)],
    });
    processes = Array.from({ length: WAITERS }, () => new AppInstance(server.url, { ttl: TTL }));
    await holder.received((message) => message === 'ready');
    holder.send('take');
    await holder.received((message) => message === 'held');
    waiting = [];
    for (const { locks } of processes) {
      const lock = locks.acquire('order:42');
      lock.catch(() => {}); // some are never awaited
      waiting.push(lock);
      await standing(server, 'order:42', waiting.length);
    }
  });

  afterEach(async () => {
    await holder.kill();
    await Promise.all(processes.map((each) => each[Symbol.asyncDispose]()));
    await server.stop();
  });

  it('is followed by the first waiter within its ttl, and no herd', async () => {
    await using log = await ServerLog.of(server);
    await holder.kill();
    const left = Number(await server.command('PTTL', 'lock:order:42'));
    const lock = await inTime(left + SLACK, waiting[0]!);
    expect(left).toBeLessThanOrEqual(TTL);
    expect((await log.take('publish')).length).toBeLessThanOrEqual(1); // none where it looked itself
    expect(await inLine(server, 'order:42')).toHaveLength(WAITERS - 1);

    await lock.release();
    for (const next of waiting.slice(1)) expect(await (await next).release()).toBe(true);
    await nothingLeft(server);
  });

  it('is followed by the second waiter in the same time, when the first one died, too', async () => {
    processes[0]!.redis.disconnect();
    await holder.kill();
    const left = Number(await server.command('PTTL', 'lock:order:42'));
    const lock = await inTime(left + SLACK, waiting[1]!);
    expect(await lock.release()).toBe(true);
  });
});
