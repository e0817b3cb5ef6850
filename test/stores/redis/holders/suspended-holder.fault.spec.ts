import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { RedisLocks } from '../locks.js';
import { ChildProcess } from '../../../support/processes/child-process.js';
import { RedisServer } from '../../../support/servers/redis-server.js';
import type { SuspendedMessage } from '../../../support/faults/workers/suspended.worker.js';

describe('A holder on a machine that was suspended for longer than the ttl', () => {
  let directory: string;
  let server: RedisServer;
  let own: RedisLocks;
  let holder: ChildProcess<never, SuspendedMessage>;

  beforeEach(async () => {
    directory = mkdtempSync(join(tmpdir(), 'holdfast-suspended-'));
    server = await RedisServer.start();
    own = new RedisLocks(server.url, { waitTimeout: 30_000 });
    writeFileSync(missed(), '0');
    holder = new ChildProcess('test/support/faults/workers/suspended.worker.ts', {
      args: [server.url, missed()],
    });
    expect(await holder.next()).toBe('held');
  });

  afterEach(async () => {
    await holder.kill();
    await own[Symbol.asyncDispose]();
    await server.stop();
    rmSync(directory, { recursive: true });
  });

  const missed = () => join(directory, 'missed');

  it('says so at once, though its monotonic clock stood still, and is told by its signal', async () => {
    const stoppedAt = performance.now();
    holder.pause();
    const lock = await own.locks.acquire('order:42'); // granted when the ttl of the other one is over
    writeFileSync(missed(), String(performance.now() - stoppedAt));
    holder.resume();
    const first = (message: SuspendedMessage) => message instanceof Object && 'isHeld' in message;
    expect(await holder.received(first)).toEqual({
      isHeld: false,
      remaining: 0,
      isAborted: true,
    });
    const told = (message: SuspendedMessage) => message instanceof Object && 'lost' in message;
    expect(await holder.received(told)).toEqual({ lost: 'expired' });
    expect(lock.isHeld).toBe(true);
  });
});
