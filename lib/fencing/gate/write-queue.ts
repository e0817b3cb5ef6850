import { offAbort, onAbort } from '../../core/async/abort-listeners.js';
import { systemClock } from '../../core/async/clock.js';
import type { FencedHolder } from '../holder/fenced-holder.js';

export interface WaitLimits {
  /** Milliseconds. */
  readonly waitTimeout: number;
  readonly signal?: AbortSignal | undefined;
  /** The error of a wait that took too long. */
  readonly late: () => Error;
}

/** A write that goes on, and those that it makes under the same token. */
export interface OpenWrite extends FencedHolder {
  readonly inner: WriteQueue;
  /** The one that it was made in. */
  readonly outer: OpenWrite | undefined;
  isOver: boolean;
}

/** The innermost of them that still goes on. */
export function ongoing(innermost: OpenWrite | undefined): OpenWrite | undefined {
  let open = innermost;
  while (open?.isOver) open = open.outer;
  return open;
}

/** The one of this holder that still goes on. */
export function openWriteOf(
  { key, fencingToken }: FencedHolder,
  innermost: OpenWrite | undefined,
): OpenWrite | undefined {
  let open = ongoing(innermost);
  while (open && (open.key !== key || open.fencingToken !== fencingToken))
    open = ongoing(open.outer);
  return open;
}

/** Lets one writer in at a time, in the order of arrival. */
export class WriteQueue {
  readonly #waiting = new Set<() => void>();
  #isBusy = false;

  get isIdle(): boolean {
    return !this.#isBusy;
  }

  /** Resolves when it is this writer's turn, which lasts until `leave`. Rejects when one of `limits` ends the wait first. */
  enter(limits?: WaitLimits): Promise<void> {
    if (!this.#isBusy) {
      this.#isBusy = true;
      return Promise.resolve();
    }
    return new Promise((resolve, reject) => {
      const forget = limits && endOf(limits, (reason) => end(() => reject(reason)));
      const end = (settle: () => void) => {
        this.#waiting.delete(admit);
        forget?.();
        settle();
      };
      const admit = () => end(resolve);
      this.#waiting.add(admit);
    });
  }

  /** Lets the next writer in. */
  leave(): void {
    const [next] = this.#waiting;
    if (next) next();
    else this.#isBusy = false;
  }
}

/** Calls `end` once, with the reason, when a limit is reached. Calling the result forgets it. */
function endOf(
  { waitTimeout, signal, late }: WaitLimits,
  end: (reason: unknown) => void,
): () => void {
  const abort = { handleEvent: () => end(signal!.reason) };
  if (signal) onAbort(signal, abort);
  const cancel =
    waitTimeout < Infinity ? systemClock.schedule(waitTimeout, () => end(late())) : undefined;
  return () => {
    if (signal) offAbort(signal, abort);
    cancel?.();
  };
}
