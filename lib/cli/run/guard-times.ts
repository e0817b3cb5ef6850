import { usageError } from '../output/command-error.js';
import type { OpenedStore } from '../store/opened-store.js';
import type { GuardTimes } from './lock-guard.js';

const TTL = 30_000;
const SHORTEST_TTL = 1_000;
const KILL_AFTER = 5_000;
const LARGEST_MARGIN = 1_000;
const LONGEST_LOOK = 1_000;

/** Throws `CommandError` for times that cannot be kept. */
export function guardTimes(
  { ttl = TTL, killAfter }: { readonly ttl?: number; readonly killAfter?: number },
  { store, sessionTimeout }: OpenedStore,
): GuardTimes {
  if (ttl < SHORTEST_TTL) throw usageError(`--ttl must be at least 1s, got ${ttl}ms`);
  if (killAfter !== undefined && killAfter > ttl / 2) {
    throw usageError(`--kill-after must be at most half of --ttl (${ttl}ms), got ${killAfter}ms`);
  }
  // A session hears of us every third of its timeout, and has had no word for a third at most.
  const session = store.supports.ttl ? undefined : (sessionTimeout ?? TTL) / 3;
  const span = session ?? ttl;
  return {
    killAfter: Math.min(killAfter ?? KILL_AFTER, span / 2),
    margin: Math.min(span / 10, LARGEST_MARGIN),
    lookEvery: Math.min(span / 20, LONGEST_LOOK),
    session,
  };
}
