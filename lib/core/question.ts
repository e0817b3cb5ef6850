import type { StoreCall } from './store-call.js';

/** What a store that is asked in several steps looks at in between. */
export interface Asked {
  /** The call has failed: nobody waits for its answer. */
  readonly isGone: boolean;
}

interface Asker {
  /** Throws what is to be reported of an `error` of the store, or of the `signal` that ended the wait for it. */
  refuse(error: unknown, signal: AbortSignal | undefined): never;
}

/** What is asked of the store, for the one who asks. */
export class Question<Answer, Result> implements StoreCall<Answer, Result>, Asked {
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
