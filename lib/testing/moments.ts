import { later } from './later.js';

interface Awaited {
  readonly hasCome: () => boolean;
  readonly resolve: () => void;
}

/** Moments that a test can wait for. */
export class Moments {
  readonly #awaited = new Set<Awaited>();

  /** Resolves once `hasCome` was true at a look, when all other callers have made of it what they can. Never rejects. */
  until(hasCome: () => boolean): Promise<void> {
    return new Promise((resolve) => {
      this.#awaited.add({ hasCome, resolve });
      this.look();
    });
  }

  /** Something has changed. */
  look(): void {
    for (const each of this.#awaited) {
      if (!each.hasCome()) continue;
      this.#awaited.delete(each);
      later(each.resolve);
    }
  }
}
