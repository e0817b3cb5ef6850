import { systemClock } from '../../core/async/clock.js';
import { sleep } from '../../core/async/sleep.js';
import type { Clock } from '../../core/async/clock.js';
import type { LockInspection, LockStore } from '../../core/contract/lock-store.js';
import { optionError } from '../../core/options/option-error.js';
import { aClock, aWhole, checkOptions, needed } from '../../core/options/option-rules.js';
import type { OptionRules } from '../../core/options/option-rules.js';
import { aStore } from '../plan/migrate-options.js';

export interface MigrationStatusOptions {
  readonly from: LockStore;
  readonly to: LockStore;
  /**
   * Milliseconds after which a lock that is in `from` alone is looked at again: a process in `dual` takes `from` first.
   * @default 1_000
   */
  readonly settle?: number | undefined;
  /** For tests: a `FakeClock` from `nest-holdfast/testing`. */
  readonly clock?: Clock | undefined;
}

/** How far a move is. */
export interface MigrationStatus {
  /** No lock is in `from` alone: with the old credential deleted for `largestTtl`, the target alone may be used. */
  readonly isPaired: boolean;
  /** Number of locks in `from`, those that are in both stores among them. */
  readonly from: number;
  /** Number of locks in `to`. Missing where it cannot list. */
  readonly to: number | undefined;
  /** Locks in `from` alone: of processes of the old configuration. */
  readonly unpaired: readonly LockInspection[];
}

const PAGE = 500;

const RULES: OptionRules<MigrationStatusOptions> = {
  from: needed(aStore),
  to: needed(aStore),
  settle: aWhole('ms', { from: 0 }),
  clock: aClock,
};

/** The locks of both stores. Takes nothing. Rejects with the error of a store. */
export async function migrationStatus(options: MigrationStatusOptions): Promise<MigrationStatus> {
  checkOptions('migrationStatus', options, RULES, '{ from, to }');
  const { from, to, settle = 1_000, clock = systemClock } = options;
  if (!from.list || !from.inspect || !to.inspect)
    throw optionError('migrationStatus: from must be a store that lists, and both must inspect their locks'); // prettier-ignore
  const locks = await listed(from);
  const alone = await thoseAlone(to, locks);
  if (alone.length > 0) await sleep(clock, settle);
  const later = await Promise.all(alone.map(({ key }) => from.inspect!(key)));
  const same = alone.filter((lock, index) => isSame(lock, later[index]));
  const unpaired = await thoseAlone(to, same);
  const inTo = to.list ? (await listed(to)).length : undefined;
  return { isPaired: unpaired.length === 0, from: locks.length, to: inTo, unpaired };
}

async function listed(store: LockStore): Promise<LockInspection[]> {
  const found = new Map<string, LockInspection>();
  let cursor: string | undefined;
  do {
    const page = await store.list!({ cursor, limit: PAGE });
    for (const lock of page.locks) found.set(lock.key, lock);
    ({ cursor } = page);
  } while (cursor !== undefined);
  return [...found.values()];
}

async function thoseAlone(
  to: LockStore,
  locks: readonly LockInspection[],
): Promise<LockInspection[]> {
  const twins = await Promise.all(locks.map(({ key }) => to.inspect!(key)));
  return locks.filter((_, index) => twins[index] === undefined);
}

/** Another holder was granted the key meanwhile: it may be about to take it in `to`, too. */
function isSame(one: LockInspection, other: LockInspection | undefined): boolean {
  return other !== undefined && one.holder === other.holder && one.fencingToken === other.fencingToken; // prettier-ignore
}
