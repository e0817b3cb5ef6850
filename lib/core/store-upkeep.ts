import { warn } from './async/warn.js';
import { LockStoreError, LockUnsupportedError } from './lock-errors.js';
import type { LockEvents } from './lock-events.js';
import { keyNames } from './lock-keys.js';
import { show } from './option-values.js';
import { optionError } from './options/option-error.js';
import type { Lease, LockInspection, LockStore, StoreDoubt, StoreNotice } from './lock-store.js';
import { reasonOf } from './contract/safe-error.js';
import { checkInspection } from './contract/store-answers.js';
import { StoreUse } from './store/store-use.js';
import type { StoreCalls } from './store-call.js';
import { quoted } from './printable.js';

interface UpkeepSurroundings {
  readonly store: LockStore;
  readonly calls: StoreCalls;
}

interface ObserverSurroundings {
  readonly store: LockStore;
  readonly keeper: { doubt(doubt: StoreDoubt): void };
  readonly events: LockEvents;
}

/** Throws `TypeError` for what is no store, such as the client that one is made of. `expected` begins the message. */
export function checkStore(store: unknown, expected = 'LockService expects a store'): void {
  const { tryAcquire, supports, evalsha } = (store ?? {}) as Readonly<Record<string, unknown>>;
  if (typeof tryAcquire === 'function' && typeof supports === 'object') return;
  const got =
    typeof evalsha === 'function'
      ? 'a client of Redis: write new RedisLockStore(client)'
      : `${show(store)}: write new MemoryLockStore() or another one`;
  throw optionError(`${expected}, got ${got}`);
}

/** Begins the use of a store, and lets it tell what happens to it, in whatever context it finds out. */
export function useStore({ store, keeper, events }: ObserverSurroundings): StoreUse {
  const heard = (notice: StoreNotice) => {
    if (notice.type === 'doubt') return keeper.doubt(notice);
    const { type, ...event } = notice;
    events.publish('node', () => ({ ...event, store: store.name }));
  };
  return new StoreUse(store, heard);
}

/** Whether core lines up the callers of one process. Where everything is granted, or the store does it, each of them asks. */
export function needsLine({ supports }: LockStore): boolean {
  return supports.exclusive !== false && supports.ownLine !== true;
}

/** Throws `LockUnsupportedError` for what the store cannot count. */
export function checkSharing(
  { name, supports }: LockStore,
  keys: readonly string[],
  permits: number | undefined,
): void {
  const isReader = permits === Infinity;
  if (permits === undefined || (isReader ? supports.readLocks : supports.semaphores)) return;
  const why = supports.cannotCount === undefined ? '' : `: ${supports.cannotCount}`;
  const what = isReader ? 'read locks' : 'semaphores';
  const message = `Lock store "${name}" has no ${what} (key ${quoted(keyNames(keys))})${why}`;
  throw new LockUnsupportedError(keyNames(keys), name, message);
}

/** Throws `LockUnsupportedError` for what cannot become a read lock. */
export function checkDowngrade(
  { name }: LockStore,
  lease: Lease,
  { keys, permits }: { readonly keys: readonly string[]; readonly permits: number | undefined },
): void {
  const isPermit = permits !== undefined && permits < Infinity;
  if (!isPermit && lease.downgrade !== undefined) return;
  const key = keyNames(keys);
  const message = isPermit
    ? `Lock ${quoted(key)} cannot be downgraded: it is a permit of a semaphore`
    : `Lock store "${name}" cannot downgrade (key ${quoted(key)})`;
  throw new LockUnsupportedError(key, name, message);
}

/** Who holds a key. Rejects with `LockStoreError`, also for a store that cannot tell. */
export async function inspectKey(
  { store, calls }: UpkeepSurroundings,
  key: string,
  within: number,
): Promise<LockInspection | undefined> {
  if (!store.inspect) throw new LockStoreError(key, store.name, 'it cannot inspect keys');
  return calls.make({
    ask: () => store.inspect!(key),
    within,
    check: checkInspection,
    read: (inspection) => inspection,
    recover: (error) => {
      throw new LockStoreError(key, store.name, reasonOf(error), { cause: error });
    },
  });
}

/** Ends the use of a store, and closes it with the last use. Never rejects, and does not wait for ever. */
export async function leaveStore(
  { store, calls }: UpkeepSurroundings,
  use: StoreUse,
  within: number,
): Promise<void> {
  await calls.make({
    ask: () => use.close(),
    within,
    check: () => undefined, // it has nothing to say
    read: () => undefined,
    recover: (error) => warn(`Lock store "${store.name}" was not closed: ${reasonOf(error)}`),
  });
}
