/** A promise and what settles it. */
export interface Waiting {
  readonly promise: Promise<void>;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

/** Those who wait for something to happen to one node. */
export interface Watch {
  /** For the client, which calls it once, or after a reconnection. */
  readonly fire: () => void;
  readonly waiting: Set<Waiting>;
}

/** One function for each path: the client keeps it over reconnections, and takes it only once. */
export class Watches {
  readonly #watches = new Map<string, Watch>();

  of(path: string): Watch {
    const known = this.#watches.get(path);
    if (known) return known;
    const fire = () => {
      this.#watches.delete(path);
      for (const { resolve } of watch.waiting) resolve();
    };
    const watch: Watch = { fire, waiting: new Set() };
    this.#watches.set(path, watch);
    return watch;
  }

  /** The client still has the functions. */
  fail(error: Error): void {
    for (const { waiting } of this.#watches.values())
      for (const { reject } of waiting) reject(error);
  }
}

/** A rejection that comes before anybody looks counts as handled. */
export function aWaiting(): Waiting {
  let resolve!: () => void;
  let reject!: (error: unknown) => void;
  const promise = new Promise<void>((...both) => ([resolve, reject] = both));
  promise.catch(() => {});
  return { promise, resolve, reject };
}
