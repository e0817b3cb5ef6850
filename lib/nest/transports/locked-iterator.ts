import type { LockScope } from '../../core/scope/lock-scope.js';
import { promiseTry } from '../../core/store/store-call.js';

/** The members of a lock's scope that a call uses. */
export type CallScope = Pick<LockScope, 'lock' | 'run' | 'leave' | 'assertKept'>;

/**
 * Iterates under a lock: each step runs in the context that holds it, and fails once it is lost. Steps and `return` reach the
 * source at once, so one that is waiting can be closed.
 */
export class LockedIterator<T> implements AsyncGenerator<T, unknown, unknown> {
  /** Resolves when the source is finished, and none of its steps runs any more. */
  readonly ended: Promise<void>;
  readonly #scope: CallScope;
  readonly #source: AsyncIterator<T, unknown>;
  #running = 0;
  #isDone = false;
  #end!: () => void;

  constructor(scope: CallScope, source: AsyncIterator<T, unknown>) {
    this.#scope = scope;
    this.#source = source;
    this.ended = new Promise((resolve) => (this.#end = resolve));
  }

  next(sent?: unknown): Promise<IteratorResult<T, unknown>> {
    return this.#step(() => this.#source.next(sent));
  }

  return(value?: unknown): Promise<IteratorResult<T, unknown>> {
    return this.#step(async () => this.#source.return?.(await value) ?? { done: true, value });
  }

  throw(error: unknown): Promise<IteratorResult<T, unknown>> {
    return this.#step(async () => {
      if (this.#source.throw) return this.#source.throw(error);
      await this.#source.return?.();
      throw error;
    });
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.return();
  }

  async #step(
    move: () => Promise<IteratorResult<T, unknown>>,
  ): Promise<IteratorResult<T, unknown>> {
    this.#running++;
    try {
      const step = await this.#scope.run(() => promiseTry(move));
      if (step.done) this.#isDone = true;
      await this.#checkLock(step.value);
      return step;
    } catch (error) {
      this.#isDone = true; // an iterator that throws is finished
      throw error;
    } finally {
      this.#running--;
      if (this.#isDone && this.#running === 0) this.#end();
    }
  }

  /** Closes the source before it rejects. */
  async #checkLock(value: unknown): Promise<void> {
    try {
      this.#scope.assertKept(value);
    } catch (lost) {
      const close = async () => this.#source.return?.();
      if (!this.#isDone) await this.#scope.run(close).catch(() => {}); // the loss comes first
      throw lost;
    }
  }
}
