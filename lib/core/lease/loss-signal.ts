import { lookFirst } from '../async/abort-signals.js';
import { inRootContext } from '../async/root-context.js';
import type { LockLostError } from '../contract/lock-errors.js';

/** Why a lease was lost, if it was, and the signal for it, in the root context. */
export class LossSignal {
  readonly #look: () => void;
  #error: LockLostError | undefined;
  #controller: AbortController | undefined;

  /** `look` reports a loss that has not been reported yet. */
  constructor(look: () => void) {
    this.#look = look;
  }

  get error(): LockLostError | undefined {
    return this.#error;
  }

  /** Created on first use: most locks are never watched. */
  get signal(): AbortSignal {
    if (!this.#controller) {
      this.#controller = new AbortController();
      lookFirst(this.#controller.signal, this.#look);
      if (this.#error) this.#controller.abort(this.#error);
    }
    return this.#controller.signal;
  }

  tell(error: LockLostError): void {
    this.#error = error;
    const controller = this.#controller;
    if (controller) inRootContext(() => controller.abort(error));
  }
}
