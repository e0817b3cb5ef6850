import type { LockService } from 'nest-holdfast/core';
import { rejectionOf } from '../../core/support/outcome';
import { onFakeStore } from '../../core/support/setup';

const ORDER = { name: 'order:<id>' };

/** A service of which `measure` measures what happens from the start, and what happens to it in `play`. */
export function knownHistory(measure: (locks: LockService) => () => void) {
  const setup = onFakeStore({ ttl: 3_000, retryDelay: 100, retryJitter: 0 });
  const end = measure(setup.locks);
  return { ...setup, end, play: () => play(setup) };
}

/**
 * Calls for `order:<id>`, and one without a name:
 *
 * - granted at once four times: held for 2 s and released; for 0.5 s and released in vain; lost after 1.3 s, 0.3 s after a failed
 *   extension; held at the end
 * - granted after 0.1 s, without a name: held for 0.3 s
 * - busy: `tryAcquire`; a call without a wait; a call that waits for 1 s
 * - failed at once; aborted after 0.25 s
 */
async function play({ locks, store, lease, clock }: ReturnType<typeof onFakeStore>): Promise<void> {
  const first = await locks.acquire('order:1', ORDER);
  await clock.advance(2_000);
  await first.release();

  lease.onRelease = () => Promise.reject(new Error('down'));
  const second = await locks.acquire('order:2', ORDER);
  await clock.advance(500);
  await second.release();
  await clock.advance(0);
  lease.onRelease = () => Promise.resolve(true);

  await locks.acquire('order:3', ORDER);
  lease.onExtend = () => Promise.reject(new Error('down'));
  await clock.advance(1_000);
  lease.onExtend = () => Promise.resolve(false);
  await clock.advance(1_000);
  lease.onExtend = () => Promise.resolve(true);

  store.onAcquire = () => Promise.resolve(undefined);
  await locks.tryAcquire('order:4', ORDER);
  await rejectionOf(locks.acquire('order:4', { ...ORDER, waitTimeout: 0 }));
  const late = rejectionOf(locks.acquire('order:4', { ...ORDER, waitTimeout: 1_000 }));
  await clock.advance(1_000);
  await late;

  const abort = new AbortController();
  const aborted = rejectionOf(locks.acquire('order:5', { ...ORDER, signal: abort.signal }));
  await clock.advance(250);
  abort.abort();
  await aborted;

  const waiting = locks.acquire('secret@example.org');
  await clock.advance(50);
  store.onAcquire = () => Promise.resolve(lease);
  await clock.advance(350);
  await (await waiting).release();

  store.onAcquire = () => Promise.reject(new Error('down'));
  await rejectionOf(locks.acquire('order:6', ORDER));

  store.onAcquire = () => Promise.resolve(lease);
  await locks.acquire('order:7', ORDER);
}
