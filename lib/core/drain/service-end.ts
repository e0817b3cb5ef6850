import { LockStoreError } from '../contract/lock-errors.js';
import type { LockError } from '../contract/lock-errors.js';
import type { LockStore } from '../contract/lock-store.js';
import { keyNames } from '../keys/lock-keys.js';
import { LockDrainingError } from './draining-error.js';

/** A call, and whether it comes from the async context of a held lock, whose work may need it to end. */
interface EndedCall {
  readonly keys: readonly string[];
  readonly nesting: object | undefined;
}

/** How far a service has ended: no waits, no new work, nothing at all. */
export class ServiceEnd {
  /** Some calls are refused: it is draining, or closed. */
  hasBegun = false;
  mayWait = true;
  isDraining = false;
  isClosed = false;
  readonly #store: LockStore;
  readonly #isIdle: () => boolean;
  #whenIdle: (() => void)[] = [];

  /** `isIdle`: no call is under way, and no lock is held. */
  constructor(store: LockStore, isIdle: () => boolean) {
    this.#store = store;
    this.#isIdle = isIdle;
  }

  /** Resolves once no call is under way, and no lock is held. */
  idle(): Promise<void> {
    return new Promise((resolve) => {
      this.#whenIdle.push(resolve);
      this.ended();
    });
  }

  /** A call or a lock has ended. */
  readonly ended = (): void => {
    if (this.#whenIdle.length === 0 || !this.#isIdle()) return;
    for (const resolve of this.#whenIdle.splice(0)) resolve();
  };

  /** The reason to refuse a call, or the grant that it got. */
  refusalOf({ keys, nesting }: EndedCall): LockError | undefined {
    if (this.isClosed) return closedError(this.#store, keys);
    return this.isDraining && !nesting ? new LockDrainingError(keyNames(keys)) : undefined;
  }
}

export function closedError({ name }: LockStore, keys: readonly string[]): LockStoreError {
  return new LockStoreError(keyNames(keys), name, 'the LockService is closed');
}
