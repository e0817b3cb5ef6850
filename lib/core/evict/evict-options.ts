import { a, aName, aWhole, checkOptions, needed } from '../options/option-rules.js';
import type { OptionRules } from '../options/option-rules.js';

/** Whom to evict, and how. */
export interface LockEvictOptions {
  /**
   * The token of the holder, from its log. A later holder has a larger one, and keeps the key. Or from `inspect` and `list`: an upper
   * bound, by which the next callers of its process may be meant, too.
   */
  readonly fencingToken: bigint;
  /**
   * Milliseconds for which the holder may end its work, from when it is told: its `lock.signal` aborts at once. `0`: the key is
   * taken without asking.
   * @default 10_000
   */
  readonly grace?: number | undefined;
  /** For the event `audit`: why. */
  readonly reason?: string | undefined;
  /** For the event `audit`: the person or program that does it. */
  readonly actor?: string | undefined;
  /**
   * For the event `audit`: the tool of the actor.
   * @default 'code'
   */
  readonly via?: string | undefined;
}

const aToken = a('a bigint of at least 1', (value) => typeof value === 'bigint' && value >= 1n);

const RULES: OptionRules<LockEvictOptions> = {
  fencingToken: needed(aToken),
  grace: aWhole('ms', { from: 0 }),
  reason: aName,
  actor: aName,
  via: aName,
};

export interface CheckedEviction extends LockEvictOptions {
  readonly grace: number;
  readonly via: string;
}

/** Throws `TypeError` or `RangeError` naming the option. */
export function checkEviction(options: LockEvictOptions): CheckedEviction {
  checkOptions('locks.evict', options, RULES, '{ fencingToken: 42n }');
  const { fencingToken, grace = 10_000, reason, actor, via = 'code' } = options;
  return { fencingToken, grace, reason, actor, via };
}
