import type { StoreNotice } from '../../core/contract/lock-store.js';

type Tell = (notice: StoreNotice) => void;

/** The callers of a store's `observe`. */
export class StoreObservers {
  readonly #all: Tell[] = [];

  add(tell: Tell): void {
    this.#all.push(tell);
  }

  tell(notice: StoreNotice): void {
    for (const tell of this.#all) tell(notice);
  }

  /** Grants may have been lost. */
  doubt(reason: string): void {
    this.tell({ type: 'doubt', reason });
  }
}
