import { LockError } from '../../core/contract/lock-errors.js';
import { quoted } from '../../core/text/printable.js';

/** The write was refused: the resource has seen a newer holder of the lock. Nothing was written. */
export class LockStaleError extends LockError {
  readonly code = 'LOCK_STALE';

  readonly #fencingToken: bigint;
  readonly #newest: bigint;

  constructor(key: string, fencingToken: bigint, newest: bigint, options?: ErrorOptions) {
    super(
      `Fencing token ${fencingToken} of lock ${quoted(key)} is stale: a holder with ${newest} was here`,
      key,
      options,
    );
    this.#fencingToken = fencingToken;
    this.#newest = newest;
  }

  // Not fields of their own: loggers that write an error as JSON would fail for a bigint.

  /** The token of the refused writer. */
  get fencingToken(): bigint {
    return this.#fencingToken;
  }

  /** The token that the resource has seen. Always larger. */
  get newest(): bigint {
    return this.#newest;
  }
}

/** Nothing was written: the writes before it in the queue of its key went on for the whole `waitTimeout`. */
export class FencingTimeoutError extends LockError {
  readonly code = 'LOCK_WRITE_TIMEOUT';

  constructor(
    key: string,
    /** Milliseconds that were waited. */
    readonly waitTimeout: number,
  ) {
    super(
      `A write under lock ${quoted(key)} was not begun within ${waitTimeout} ms: an earlier one goes on`,
      key,
    );
  }
}

/** A request carries no fencing token, one that cannot be read, or one that is larger than any lock's can be. */
export class FencingTokenError extends LockError {
  readonly code = 'LOCK_TOKEN_INVALID';

  constructor(
    key: string,
    readonly reason: 'missing' | 'malformed' | 'implausible',
    message: string,
  ) {
    super(message, key);
  }
}

/** A fenced update met no row: it is not that a newer holder was there. */
export class FencedRowMissingError extends Error {
  readonly code = 'FENCED_ROW_MISSING';

  /** `key` is that of the lock. */
  constructor(readonly key: string) {
    super(`There is no row to write under lock ${quoted(key)}`);
    this.name = new.target.name;
  }
}
