// Compiled by `npm run typecheck`, never run: a line below that is wrongly accepted, or wrongly refused, is a compile error.
import { LockPermitsError, LockService, MemoryLockStore } from 'nest-holdfast/core';
import type { Lock, LockErrorCode, LockMode } from 'nest-holdfast/core';

export async function accepted(locks: LockService, signal: AbortSignal): Promise<void> {
  const options = { mode: 'read', ttl: 1_000, waitTimeout: Infinity, signal } as const;
  const lock: Lock = await locks.acquire('doc', options);
  const mode: LockMode = lock.mode;
  const permits: number | undefined = lock.permits;
  await lock.downgrade();
  const tried: Lock | undefined = await locks.tryAcquire(['a', 'b'] as const, { permits: 5 });
  const length: number = await locks.withLock('doc', { mode: 'write' }, ({ key }) => key.length);
  const later: string = await locks.withPermit('export', { permits: 5 }, async () => 'done');
  const code: LockErrorCode = new LockPermitsError('export', 3, 5).code;
  void [mode, permits, tried, length, later, code];
}

export function refused(locks: LockService): void {
  // @ts-expect-error -- no such mode
  void locks.acquire('doc', { mode: 'shared' });
  // @ts-expect-error -- a misspelt option
  void locks.acquire('doc', { tll: 1_000 });
  // @ts-expect-error -- a key is text
  void locks.acquire(42);
  // @ts-expect-error -- so are several
  void locks.tryAcquire(['a', 42]);
  // @ts-expect-error -- permits are a number
  void locks.withLock('export', { permits: '5' }, () => 1);
  // @ts-expect-error -- how many?
  void locks.withPermit('export', {}, () => 1);
  // @ts-expect-error -- how many?
  void locks.withPermit('export', () => 1);
  // @ts-expect-error -- a holder of a permit is neither reader nor writer
  void locks.withPermit('export', { permits: 5, mode: 'read' }, () => 1);
  // @ts-expect-error -- work is a function
  void locks.withLock('doc', Promise.resolve(1));
  // @ts-expect-error -- not every lock of a service is a read lock
  void new LockService(new MemoryLockStore(), { mode: 'read' });
  // @ts-expect-error -- nor a permit
  void new LockService(new MemoryLockStore(), { permits: 5 });
}
