import { warn } from '../async/warn.js';
import { fieldsOf } from '../contract/fields.js';
import { LockUnsupportedError } from '../contract/lock-errors.js';
import type { LockEvents, LockWarningEvent } from '../events/lock-events.js';
import { keyNames } from '../keys/lock-keys.js';
import { show } from '../options/option-values.js';
import { optionError } from '../options/option-error.js';
import type {
  Lease,
  LockStore,
  StoreDoubt,
  StoreNotice,
  StoreRevocation,
} from '../contract/lock-store.js';
import { reasonOf } from '../contract/safe-error.js';
import { isPermit, isReader } from '../sharing/hold-mode.js';
import { StoreUse } from './store-use.js';
import type { StoreCalls } from './store-call.js';
import { quoted } from '../text/printable.js';

interface CheckContext {
  readonly store: LockStore;
  readonly calls: StoreCalls;
}

interface ObserverContext {
  readonly store: LockStore;
  readonly keeper: {
    doubt(doubt: StoreDoubt): void;
    readonly leases: readonly { revoke(revocation: StoreRevocation): void }[];
  };
  readonly events: LockEvents;
}

/** Throws `TypeError` for anything but a store, such as the client of one. `expected` begins the message. */
export function checkStore(store: unknown, expected = 'LockService expects a store'): void {
  const { tryAcquire, supports } = fieldsOf(store);
  if (typeof tryAcquire === 'function' && typeof supports === 'object') return;
  throw optionError(
    `${expected}, got ${show(store)}: write new MemoryLockStore(), or the store around its client`,
  );
}

/** Begins the use of a store, and handles its notices, in whatever context they arise. */
export function useStore({ store, keeper, events }: ObserverContext): StoreUse {
  const heard = (notice: StoreNotice) => {
    if (notice.type === 'doubt') return keeper.doubt(notice);
    if (notice.type === 'revoked') return keeper.leases.forEach((each) => each.revoke(notice));
    const { type, ...event } = notice;
    events.publish('node', () => ({ ...event, store: store.name }));
  };
  const use = new StoreUse(store, heard);
  store.checkServers?.((warning) => warned(events, { ...warning, store: store.name }));
  return use;
}

/** Where no listener is told, the process is. */
function warned(events: LockEvents, warning: LockWarningEvent): void {
  if (events.listenerCount('warning') === 0) warn(warning.message, warning.code);
  events.publish('warning', () => warning);
}

/** Whether core queues the callers of one process. Where every key is granted, or the store queues them, each caller asks. */
export function needsQueue({ supports }: LockStore): boolean {
  return supports.exclusive !== false && supports.queuesAllCallers !== true;
}

/** Throws `LockUnsupportedError` for a kind of sharing that the store cannot count. */
export function checkSharing(
  { name, supports }: LockStore,
  keys: readonly string[],
  permits: number,
): void {
  const isRead = isReader(permits);
  if (isRead ? supports.readLocks : supports.semaphores) return;
  const why = supports.sharingUnsupported === undefined ? '' : `: ${supports.sharingUnsupported}`;
  const what = isRead ? 'read locks' : 'semaphores';
  const key = keyNames(keys);
  const message = `Lock store "${name}" has no ${what} (key ${quoted(key)})${why}`;
  throw new LockUnsupportedError(key, name, message);
}

/** Throws `LockUnsupportedError` for a lease that cannot become a read lock. */
export function checkDowngrade(
  { name }: LockStore,
  lease: Lease,
  { keys, permits }: { readonly keys: readonly string[]; readonly permits: number | undefined },
): void {
  const hasPermit = isPermit(permits);
  if (!hasPermit && lease.downgrade !== undefined) return;
  const key = keyNames(keys);
  const message = hasPermit
    ? `Lock ${quoted(key)} cannot be downgraded: it is a permit of a semaphore`
    : `Lock store "${name}" cannot downgrade (key ${quoted(key)})`;
  throw new LockUnsupportedError(key, name, message);
}

/** Ends the use of a store, and closes it with the last use. Never rejects, and does not wait for ever. */
export async function leaveStore(
  { store, calls }: CheckContext,
  use: StoreUse,
  within: number,
): Promise<void> {
  await calls.make({
    ask: () => use.close(),
    within,
    check: () => undefined, // the answer is empty
    read: () => undefined,
    recover: (error) => warn(`Lock store "${store.name}" was not closed: ${reasonOf(error)}`),
  });
}
