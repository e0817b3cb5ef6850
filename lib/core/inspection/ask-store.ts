import { LockStoreError } from '../contract/lock-errors.js';
import type { LockStore } from '../contract/lock-store.js';
import { reasonOf } from '../contract/safe-error.js';
import type { StoreCalls } from '../store/store-call.js';

export interface InspectionContext {
  readonly store: LockStore;
  readonly calls: StoreCalls;
}

/** A question that takes nothing. Rejects with `LockStoreError` about `key`. */
export function askStore<Answer>(
  { store, calls }: InspectionContext,
  key: string,
  within: number,
  ask: () => Promise<Answer>,
  check: (answer: unknown) => void,
): Promise<Answer> {
  return calls.make<Answer, Answer>({
    ask,
    within,
    check,
    read: (answer) => answer,
    recover: (error) => {
      throw new LockStoreError(key, store.name, reasonOf(error), { cause: error });
    },
  });
}
