import type { StoreCall } from './store-call.js';

/** State that a store call of several steps checks between them. */
export interface Asked {
  /** The call has failed: no caller waits for its answer. */
  readonly isGone: boolean;
}

interface Asker {
  /** Throws the error to report for an `error` of the store, or for the `signal` that ended the wait. */
  refuse(error: unknown, signal: AbortSignal | undefined): never;
}

/** One attempt as a call to the store, on behalf of a caller. */
export class AttemptCall<Answer, Result> implements StoreCall<Answer, Result>, Asked {
  isGone = false;
  readonly #asker: Asker;

  constructor(
    asker: Asker,
    readonly sent: (asked: Asked) => Promise<Answer>,
    readonly check: (answer: unknown) => void,
    readonly read: (answer: Answer) => Result | Promise<Result>,
    readonly late: (answer: Answer) => void,
    readonly within: number,
    readonly signal: AbortSignal | undefined,
  ) {
    this.#asker = asker;
  }

  ask(): Promise<Answer> {
    return this.sent(this);
  }

  recover(error: unknown): Result {
    this.isGone = true;
    return this.#asker.refuse(error, this.signal);
  }
}
