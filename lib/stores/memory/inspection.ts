import type {
  LockInspection,
  LockListQuery,
  LockPage,
} from '../../core/contract/lock-inspection.js';
import { KeyGlob } from '../../core/list/key-glob.js';
import { ListCursors } from '../../core/list/list-cursor.js';
import { MOST_WAITERS } from '../../core/list/most-waiters.js';
import type { HeldKey, HeldKeys } from './held-keys.js';
import type { MemoryQueue } from './memory-queue.js';
import { isShared } from '../../core/sharing/hold-mode.js';

/** The place after a lock: its serial number. */
const CURSORS = new ListCursors<number>('memory');

/** A held key, as it is at the time `now`. */
export function inspectionOf(
  key: string,
  { permits, fencingToken, holders }: HeldKey,
  queue: MemoryQueue,
  now: number,
): LockInspection {
  const all = [...holders.values()];
  const waiting = queue.waiting(key);
  const seen = {
    key,
    holder: all[0]!.holder,
    remaining: all.reduce((latest, { expiry }) => Math.max(latest, expiry.due), 0) - now,
    heldFor: Math.floor(now - all.reduce((first, { since }) => Math.min(first, since), now)),
    waiters: waiting.slice(0, MOST_WAITERS).map(({ holder = '' }) => holder),
    waiterCount: waiting.length,
  };
  if (!isShared(permits)) return { ...seen, fencingToken };
  return { ...seen, permits, holders: all.map(({ holder = '' }) => holder) };
}

/** In the order in which the keys were taken. */
export function listHeld(
  keys: HeldKeys,
  { match, cursor, limit }: LockListQuery,
  inspect: (key: string, held: HeldKey) => LockInspection,
): LockPage {
  const glob = new KeyGlob(match);
  const locks: LockInspection[] = [];
  let last = CURSORS.read(cursor) ?? 0;
  for (const [key, held] of keys.after(last)) {
    if (!glob.matches(key)) continue;
    if (locks.length >= limit) return { locks, cursor: CURSORS.write(last) };
    locks.push(inspect(key, held));
    last = held.serial;
  }
  return { locks };
}
