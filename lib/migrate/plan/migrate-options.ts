import { systemClock } from '../../core/async/clock.js';
import type { Clock } from '../../core/async/clock.js';
import type { LockStore } from '../../core/contract/lock-store.js';
import { optionError } from '../../core/options/option-error.js';
import {
  a,
  aBoolean,
  aClock,
  aWhole,
  checkOptions,
  needed,
  oneOf,
} from '../../core/options/option-rules.js';
import type { OptionRules } from '../../core/options/option-rules.js';
import { checkStore } from '../../core/store/store-checks.js';

/**
 * - `dual`: a lock is held in both stores. Beside processes that use `from` alone
 * - `handover`: as `dual`, with the fencing tokens of `to`. Only where a store has `supports.fencingFloor: false`
 * - `to`: in `to` alone. Grants nothing before `from` is closed to the old configuration
 */
export type MigrationPhase = 'dual' | 'handover' | 'to';

export interface MigratingLockStoreOptions {
  /**
   * The store that is left. In `dual` and `handover` by a new credential; in `to` by the old one, which is to be refused. May be
   * missing in `to` with `fromClosed: true`, which stores whose locks have no ttl (etcd, ZooKeeper) need: a session outlives its
   * credential.
   */
  readonly from?: LockStore | undefined;
  /** The store that is moved to. */
  readonly to: LockStore;
  readonly phase: MigrationPhase;
  /** The largest ttl in milliseconds that any process of the old configuration uses. */
  readonly largestTtl: number;
  /**
   * Where a store has `supports.fencingFloor: false` (etcd, ZooKeeper): tokens of `to` begin here. The same in every process, for
   * ever, and larger than every token until the end of the move: the time in microseconds a month from now, for one.
   */
  readonly fencingBase?: bigint | undefined;
  /**
   * `true`: the operator knows that no process uses `from` alone any more, and that `largestTtl` has passed since, or that the
   * sessions of `from` have ended. In `to` only.
   * @default false
   */
  readonly fromClosed?: boolean | undefined;
  /** For tests: a `FakeClock` from `nest-holdfast/testing`. */
  readonly clock?: Clock | undefined;
}

export interface ResolvedMigration {
  readonly from: LockStore | undefined;
  readonly to: LockStore;
  readonly phase: MigrationPhase;
  readonly largestTtl: number;
  /** `0n`: both stores have counters. */
  readonly fencingBase: bigint;
  readonly fromClosed: boolean;
  readonly clock: Clock;
}

const OWNER = 'MigratingLockStore';

/** Throws `TypeError` for anything but a store. */
export const aStore = (name: string, value: unknown) =>
  checkStore(value, `${name} must be a LockStore`);
const aBase = a('a bigint of at least 1', (value) => typeof value === 'bigint' && value >= 1n);

/** Of the options that say how to move, and not what. */
export const PHASE_RULES = {
  phase: needed(oneOf('dual', 'handover', 'to')),
  largestTtl: needed(aWhole('ms', { from: 1 })),
  fencingBase: aBase,
  fromClosed: aBoolean,
};

const RULES: OptionRules<MigratingLockStoreOptions> = {
  from: aStore,
  to: needed(aStore),
  ...PHASE_RULES,
  clock: aClock,
};

/** Throws `TypeError` or `RangeError` naming the option. */
export function resolveMigration(options: MigratingLockStoreOptions): ResolvedMigration {
  checkOptions(OWNER, options, RULES, "{ from, to, phase: 'dual', largestTtl: 30_000 }");
  const { from, to, phase, largestTtl, fencingBase, fromClosed = false, clock = systemClock } = options; // prettier-ignore
  if (from === to) throw wrong('to must be another store than from');
  if (fromClosed && phase !== 'to') throw wrong(`fromClosed belongs to phase 'to', got '${phase}'`);
  if (from === undefined && !fromClosed)
    throw wrong(`from must be a LockStore, got undefined (phase 'to' with fromClosed needs none)`);
  if (from && phase === 'to' && !fromClosed && !from.supports.ttl)
    throw wrong(
      `phase 'to' needs fromClosed: true: a session of from ("${from.name}") outlives its credential, and its locks have no ttl. ` +
        'Set it once "holdfast migrate status" exits with 0',
    );
  const base = checkedBase(from, to, phase, fencingBase);
  return { from, to, phase, largestTtl, fencingBase: base, fromClosed, clock };
}

/** Fencing tokens that are a server's revisions begin above those of the other store. */
function checkedBase(
  from: LockStore | undefined,
  to: LockStore,
  phase: MigrationPhase,
  fencingBase: bigint | undefined,
): bigint {
  const counting = [from, to].filter((store) => store?.supports.fencing !== false);
  const [first, ...others] = counting.filter((store) => store?.supports.fencingFloor === false);
  if (counting.length < 2 && from !== undefined) return 0n; // there are no tokens to keep in order
  if (others.length > 0)
    throw wrong(
      `from ("${from!.name}") and to ("${to.name}") have fencing tokens that no request can raise, so they would not grow on ` +
        'the way: stop all processes, wait for largestTtl, and start them with the other store',
    );
  if (first && fencingBase === undefined)
    throw wrong(`fencingBase must be a bigint, got undefined: the fencing tokens of "${first.name}" are its revisions`); // prettier-ignore
  if (!first && phase === 'handover')
    throw wrong(`phase 'handover' is for stores whose fencing tokens no request can raise: go from 'dual' to 'to'`); // prettier-ignore
  return first ? fencingBase! : 0n;
}

function wrong(what: string): Error {
  return optionError(`${OWNER}: ${what}`);
}
