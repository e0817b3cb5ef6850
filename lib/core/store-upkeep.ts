import { LockStoreError } from './lock-errors.js';
import type { LockEvents } from './lock-events.js';
import type { LockInspection, LockStore, StoreDoubt } from './lock-store.js';
import { reasonOf } from './store-call.js';
import type { StoreCalls } from './store-call.js';

interface UpkeepSurroundings {
  readonly store: LockStore;
  readonly calls: StoreCalls;
}

interface ObserverSurroundings {
  readonly store: LockStore;
  readonly keeper: { doubt(doubt: StoreDoubt): void };
  readonly events: LockEvents;
}

/** Lets the store tell what happens to it. */
export function observeStore({ store, keeper, events }: ObserverSurroundings): void {
  store.observe?.((notice) => {
    if (notice.type === 'doubt') return keeper.doubt(notice);
    const { type, ...event } = notice;
    events.publish('node', () => ({ ...event, store: store.name }));
  });
}

/** Whether core lines up the callers of one process. Where everything is granted, or the store does it, each of them asks. */
export function needsLine({ supports }: LockStore): boolean {
  return supports.exclusive !== false && supports.ownLine !== true;
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
    read: (inspection) => inspection,
    recover: (error) => {
      throw new LockStoreError(key, store.name, reasonOf(error), { cause: error });
    },
  });
}

/** Never rejects, and does not wait for ever. */
export async function closeStore(
  { store, calls }: UpkeepSurroundings,
  within: number,
): Promise<void> {
  if (!store.close) return;
  await calls.make({
    ask: () => store.close!(),
    within,
    read: () => undefined,
    recover: (error) =>
      process.emitWarning(`Lock store "${store.name}" was not closed: ${reasonOf(error)}`),
  });
}
