import { isOptionError } from '../options/option-error.js';
import type { LockStore } from '../contract/lock-store.js';
import { storeFailureOf } from '../store/store-failure.js';
import type { StoreCalls } from '../store/store-call.js';

export interface InspectionContext {
  readonly store: LockStore;
  readonly calls: StoreCalls;
}

/** A question that takes nothing. Rejects with `LockStoreError` about `key`, and with `TypeError` for what the caller may not ask. */
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
      if (isOptionError(error)) throw error; // misuse, such as the cursor of another list
      throw storeFailureOf(store, [key], error);
    },
  });
}
