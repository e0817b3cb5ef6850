import { isList } from '../../../core/contract/fields.js';
import { optionError } from '../../../core/options/option-error.js';
import { systemClock } from '../../../core/async/clock.js';
import { warn } from '../../../core/async/warn.js';
import type { Clock } from '../../../core/async/clock.js';
import type { LockStore } from '../../../core/contract/lock-store.js';
import { aClock, aWhole, checkOptions, oneOf } from '../../../core/options/option-rules.js';
import type { OptionRules } from '../../../core/options/option-rules.js';

/** With fewer nodes, the loss of one is the loss of all locks. */
const FEWEST_NODES = 3;

/**
 * Whether a node that has just started may vote.
 *
 * - `true`: not before it has been up for the largest ttl in use, for it may have forgotten locks that are still held
 * - `'unless-all-fresh'`: as `true`, except when all nodes have started within two seconds of each other: a new installation
 * - `false`: always. A node that crashes and comes back empty then lets two holders in
 */
export type Quarantine = boolean | 'unless-all-fresh';

export interface RedlockStoreOptions {
  /**
   * Milliseconds that one node may take to answer. It has to be much smaller than the ttl.
   * @default 5 % of the ttl, at least 5 and at most 50
   */
  readonly nodeTimeout?: number | undefined;
  /**
   * Unsafe in two cases: the whole installation restarts, without its data, while locks are held; and a node restarts within
   * two seconds of the first start of the installation, while locks are already held.
   * @default 'unless-all-fresh'
   */
  readonly quarantine?: Quarantine | undefined;
  /**
   * The largest ttl in milliseconds that any process uses on these nodes: a node without a past has no vote for that long. A
   * larger ttl that this process itself uses counts as well.
   * @default 30_000
   */
  readonly largestTtl?: number | undefined;
  /** For tests: a `FakeClock` from `nest-holdfast/testing`. */
  readonly clock?: Clock | undefined;
}

export interface ResolvedRedlockOptions {
  readonly nodeTimeout: number | undefined;
  readonly quarantine: Quarantine;
  readonly largestTtl: number;
  readonly clock: Clock;
}

export const REDLOCK_RULES: OptionRules<RedlockStoreOptions> = {
  nodeTimeout: aWhole('ms', { from: 1 }),
  quarantine: oneOf(true, false, 'unless-all-fresh'),
  largestTtl: aWhole('ms', { from: 1 }),
  clock: aClock,
};

/** Throws `TypeError` or `RangeError` naming the option. */
export function resolveRedlockOptions(options: RedlockStoreOptions): ResolvedRedlockOptions {
  checkOptions('RedlockStore', options, REDLOCK_RULES, '{ nodeTimeout: 50 }');
  const {
    nodeTimeout,
    quarantine = 'unless-all-fresh',
    largestTtl = 30_000,
    clock = systemClock,
  } = options;
  return { nodeTimeout, quarantine, largestTtl, clock };
}

/** Throws `TypeError` for anything but a list of stores that keep keys for a ttl. */
export function checkNodes(nodes: readonly LockStore[]): void {
  if (!isList(nodes) || nodes.length === 0) {
    throw optionError(
      'RedlockStore expects a list of stores, `new RedlockStore([new RedisLockStore(client), …])`',
    );
  }
  nodes.forEach((node: Partial<LockStore> | undefined, index) => {
    const { supports } = node ?? {};
    if (typeof node?.tryAcquire !== 'function' || !supports)
      throw optionError(`RedlockStore: node ${index + 1} is no LockStore`);
    if (!supports.ttl) {
      throw optionError(
        `RedlockStore: node ${index + 1} (${node.name}) keeps keys for a session; every node needs a ttl (supports.ttl)`,
      );
    }
  });
  if (new Set(nodes).size < nodes.length)
    throw optionError('RedlockStore: a node is in the list twice, and would vote twice');
}

/** A process warning. */
export function warnOfFew(count: number): void {
  if (count >= FEWEST_NODES) return;
  warn(
    `RedlockStore over ${count} node${count === 1 ? '' : 's'}: no lock can be taken or extended once one of them is down. ` +
      `Redlock protects against the loss of nodes from ${FEWEST_NODES} on`,
    'HOLDFAST_REDLOCK_FEW_NODES',
  );
}
