import type { Acquisition } from './acquisition.js';

/** The acquisitions that are under way, so that a service that closes can end them and wait for their clean-up. */
export class OpenAcquisitions {
  readonly #open = new Set<Acquisition>();
  #drained: (() => void) | undefined;

  add(acquisition: Acquisition): void {
    this.#open.add(acquisition);
  }

  delete(acquisition: Acquisition): void {
    this.#open.delete(acquisition);
    if (this.#open.size === 0) this.#drained?.();
  }

  /** Stops all, and resolves when the last one is over. Never rejects. */
  stop(reasonFor: (keys: readonly string[]) => unknown): Promise<void> {
    for (const each of this.#open) each.stop(reasonFor(each.turn.keys));
    if (this.#open.size === 0) return Promise.resolve();
    return new Promise((resolve) => (this.#drained = resolve));
  }
}
