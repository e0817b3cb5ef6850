import type { NamedHolder, StoreNotice } from '../../core/contract/lock-store.js';

type Tell = (notice: StoreNotice) => void;

/** No token is larger. */
const ANY_TOKEN = 2n ** 64n;

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

  /** The holder with this fencing token, or a smaller one, is to stop within `grace` milliseconds. */
  revoke({ key, fencingToken }: NamedHolder, grace: number): void {
    this.tell({ type: 'revoked', key, upTo: fencingToken, grace });
  }

  /** As `revoke`, for a key whose one holder is meant, with any token. */
  revokeAny(key: string, grace: number): void {
    this.revoke({ key, fencingToken: ANY_TOKEN }, grace);
  }
}
