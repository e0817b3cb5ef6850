import { wallClock } from '../async/clock.js';
import type { LockEvents } from '../events/lock-events.js';
import { checkEviction } from './evict-options.js';
import type { CheckedEviction, LockEvictOptions } from './evict-options.js';
import { Eviction } from './eviction.js';
import type { Evicted, EvictionContext } from './eviction.js';

/** How an eviction ended. */
export interface LockEviction {
  /** The named holder was made to give up the key. `false`: nothing was taken from any holder. */
  readonly evicted: boolean;
  /**
   * - `taken`: the key was taken from it, and is free, or the next waiter's
   * - `released`: it was asked, and has released the key itself
   * - `not-held`: the token is not that of the holder any more; another caller may hold the key
   * - `unconfirmed`: its process does not answer, and the store alone cannot tell whether the token is that of the present
   *   holder. `tokenBefore` is: to evict it nevertheless, name that
   */
  readonly outcome: 'taken' | 'released' | 'not-held' | 'unconfirmed';
  readonly key: string;
  /** The holder: `host:pid:startTime`. With `not-held`, the one that has the key now. */
  readonly holder: string | undefined;
  /** An upper bound of its fencing token, as `LockInspection.fencingToken`. */
  readonly tokenBefore: bigint | undefined;
  /**
   * With `taken`: larger than every token that the holder could use, smaller than those of all later holders. Its writes are
   * refused by a resource that has seen this one.
   */
  readonly tokenAfter: bigint | undefined;
}

interface AuditedContext extends EvictionContext {
  readonly events: LockEvents;
}

/** Rejects with `LockUnsupportedError` where the store cannot evict, or sharers hold the key, and with `LockStoreError`. */
export async function evictHolder(
  context: AuditedContext,
  key: string,
  options: LockEvictOptions,
  within: number,
): Promise<LockEviction> {
  const checked = checkEviction(options);
  const evicted = await new Eviction(context, key, checked, within).run();
  const eviction = resultOf(key, evicted);
  if (eviction.evicted) publish(context, checked, eviction);
  return eviction;
}

function resultOf(key: string, { outcome, before, tokenAfter }: Evicted): LockEviction {
  const { holder, fencingToken: tokenBefore } = before;
  const evicted = outcome === 'taken' || outcome === 'released';
  return { evicted, outcome, key, holder, tokenBefore, tokenAfter };
}

function publish(
  { events, store }: AuditedContext,
  { actor, via, reason }: CheckedEviction,
  { key, holder, tokenBefore, tokenAfter }: LockEviction,
): void {
  const what = { actor, via, action: 'evict', key, store: store.name } as const;
  const tokens = { tokenBefore, tokenAfter };
  events.publish('audit', () => ({ at: wallClock(), ...what, holder, ...tokens, reason }));
}
