import { LockService, MemoryLockStore } from 'nest-holdfast/core';

/** Nothing but the wait keeps this process: the first lock is left to its ttl. */
async function run(): Promise<void> {
  const locks = new LockService(new MemoryLockStore());
  await locks.acquire('k', { ttl: 300, autoExtend: false });
  await locks.withLock('k', { waitTimeout: 60_000 }, () => console.log(JSON.stringify('granted')));
}

void run();
