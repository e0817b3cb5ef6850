import { LockStoreError } from '../contract/lock-errors.js';
import type { LockInspection } from '../contract/lock-store.js';
import { checkInspection } from '../contract/store-answers.js';
import { askStore } from './ask-store.js';
import type { InspectionContext } from './ask-store.js';

/** The holder of a key. Rejects with `LockStoreError`, also for a store that cannot tell. */
export async function inspectKey(
  context: InspectionContext,
  key: string,
  within: number,
): Promise<LockInspection | undefined> {
  const { store } = context;
  if (!store.inspect) throw new LockStoreError(key, store.name, 'it cannot inspect keys');
  return askStore(context, key, within, () => store.inspect!(key), checkInspection);
}
