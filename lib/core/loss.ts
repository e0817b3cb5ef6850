import { lookFirst } from './abort-signals.js';
import { inRootContext } from './async/root-context.js';
import type { LockLostError } from './lock-errors.js';

/** Why a lease was lost, if it was, and the signal that tells of it, in the root context. */
export class Loss {
  readonly #look: () => void;
  #error: LockLostError | undefined;
  #controller: AbortController | undefined;

  /** `look` tells a loss that nobody has told yet. */
  constructor(look: () => void) {
    this.#look = look;
  }

  get error(): LockLostError | undefined {
    return this.#error;
  }

  /** Made when first asked for: most locks are never watched. */
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
