import { RedisLocks } from '../locks.js';
import { ChildProcess } from '../../../support/processes/child-process.js';
import { RedisServer } from '../../../support/servers/redis-server.js';
import { until } from '../../../support/until.js';
import { writeFenced } from '../../../support/faults/fenced-write.js';
import type { SuccessorMessage } from '../../../support/faults/workers/successor.worker.js';

/** A machine that stands still for two seconds loses no lock. */
const TTL = 4_000;
const BLOCKED = 1.2 * TTL;
const LOST = expect.objectContaining({ code: 'LOCK_LOST', reason: 'expired' });

describe('A holder whose event loop was blocked for longer than its ttl', () => {
  let server: RedisServer;
  let own: RedisLocks;
  let successor: ChildProcess<never, SuccessorMessage>;

  beforeEach(async () => {
    server = await RedisServer.start();
    own = new RedisLocks(server.url, { ttl: TTL });
  });

  afterEach(async () => {
    await successor.kill();
    await own[Symbol.asyncDispose]();
    await server.stop();
  });

  /** Another process, which waits for the key. */
  async function startSuccessor(): Promise<void> {
    successor = new ChildProcess('test/support/faults/workers/successor.worker.ts', {
      args: [server.url],
    });
    await successor.received((message) => message === 'waiting');
  }

  it('learns at once that it lost, is not a success, and cannot overwrite its successor', async () => {
    const work = own.locks.withLock('order:42', async (lock) => {
      await startSuccessor();
      expect(await writeFenced(own.redis, 'first', lock.fencingToken)).toBe(true);

      blockEventLoop(BLOCKED);
      expect(() => lock.assertHeld()).toThrow(LOST);
      expect(lock.isHeld).toBe(false);
      expect(lock.remaining).toBe(0);
      expect(lock.signal.aborted).toBe(true);

      await successor.received((message) => message === 'written');
      expect(await writeFenced(own.redis, 'stale', lock.fencingToken)).toBe(false);
      return 'done';
    });
    await expect(work).rejects.toMatchObject({ code: 'LOCK_LOST', result: 'done' });
    expect(await server.command('GET', 'order')).toBe('successor');
    expect(await server.command('EXISTS', 'lock:order:42')).toBe(1);
  });

  it('learns of it at the end where it never asks: withLock rejects', async () => {
    const work = own.locks.withLock('order:42', async () => {
      await startSuccessor();
      blockEventLoop(BLOCKED);
      return 'done';
    });
    await expect(work).rejects.toThrow(LOST);
    await successor.received((message) => message === 'written');
    expect(await server.command('EXISTS', 'lock:order:42')).toBe(1);
  });

  it('does not extend a lock that it lost in the meantime', async () => {
    const lock = await own.locks.acquire('order:42');
    await startSuccessor();
    blockEventLoop(BLOCKED);
    await expect(lock.extend(TTL)).rejects.toThrow(LOST);
    expect(await lock.release()).toBe(false);
    await successor.received((message) => message === 'written');
    await until(async () => Number(await server.command('PTTL', 'lock:order:42')) > 2 * TTL);
  });
});

/** As a long garbage collection would: nothing of this process runs. */
function blockEventLoop(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}
