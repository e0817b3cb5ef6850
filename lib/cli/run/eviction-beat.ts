import { systemClock } from '../../core/async/clock.js';
import type { Cancel } from '../../core/async/clock.js';
import type { LockStore } from '../../core/contract/lock-store.js';
import type { Lock } from '../../core/scope/lock.js';

/** Milliseconds from the answer to one extension to the next. */
const PAUSE = 1_000;

/**
 * Extends a lock at once, from when on a store on Redis hears of evictions. In a table, no message tells of an eviction: it is extended
 * again and again, until the result is called. Never rejects: the guard sees what comes of it.
 */
export function hearOfEvictions(lock: Lock, ttl: number, { name }: LockStore): Cancel {
  let isOver = name !== 'sql';
  let cancel: Cancel = () => {};
  const next = () => {
    if (!isOver && lock.isHeld) cancel = systemClock.schedule(PAUSE, beat);
  };
  const beat = () => void lock.extend(ttl).then(next, next);
  beat();
  return () => {
    isOver = true;
    cancel();
  };
}
