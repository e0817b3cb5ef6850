import { systemClock } from '../../../core/async/clock.js';

/** A waiter between two reads. */
export class QueuePlace {
  readonly #signal: AbortSignal;
  #isHandedOff = false;
  #mustLook = false;
  #wake: (() => void) | undefined;
  #left!: () => void;
  /** Resolves once the waiter has left the queue. */
  readonly left = new Promise<void>((resolve) => (this.#left = resolve));

  constructor(signal: AbortSignal) {
    this.#signal = signal;
    signal.addEventListener('abort', this.#stop, { once: true });
  }

  /** The wait was ended, and the waiter leaves the queue. */
  get isLeaving(): boolean {
    return this.#signal.aborted;
  }

  get isHandedOff(): boolean {
    return this.#isHandedOff;
  }

  handOff(): void {
    this.#isHandedOff = true;
    this.look();
  }

  /** Ends the pause, or the next one. */
  look(): void {
    this.#mustLook = true;
    this.#wake?.();
  }

  /** Resolves after `ms`, or as soon as there is something to read. Never rejects. */
  pause(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const cancel = systemClock.schedule(ms, () => this.#wake?.());
      this.#wake = () => {
        cancel();
        this.#wake = undefined;
        this.#mustLook = false;
        resolve();
      };
      if (this.#mustLook || this.#signal.aborted) this.#wake();
    });
  }

  close(): void {
    this.#signal.removeEventListener('abort', this.#stop);
    this.#left();
  }

  readonly #stop = (): void => this.look();
}
