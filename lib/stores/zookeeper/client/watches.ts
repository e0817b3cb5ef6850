import type { Call } from './pending-calls.js';
import { checkNames, checkStat } from './zookeeper-answers.js';
import type { Done, Stat, ZooKeeperClient } from './zookeeper-client.js';

/** A promise and what settles it. */
interface Waiting {
  readonly promise: Promise<void>;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

/** The callers that wait for a change of one node, or of its children. */
interface Watch {
  /** For the client, which calls it once, or after a reconnection. */
  readonly fire: () => void;
  readonly waiting: Set<Waiting>;
}

/** One function for each watch: the client keeps it over reconnections, and takes it only once. */
export class Watches {
  readonly #client: ZooKeeperClient;
  readonly #find: <T>(call: Call<T>) => Promise<T | undefined>;
  readonly #watches = new Map<string, Watch>();

  /** `find` makes a call, and resolves `undefined` when there is no such node. */
  constructor(client: ZooKeeperClient, find: <T>(call: Call<T>) => Promise<T | undefined>) {
    this.#client = client;
    this.#find = find;
  }

  /**
   * Resolves when the node is written to, or is gone, and at once when its version is larger than `seen`: with the version that
   * it had at first. Rejects with `signal.reason`. Reads the node instead of asking whether it exists: a watch for a missing node
   * would never end.
   */
  async untilNode(path: string, seen: number, signal: AbortSignal): Promise<number> {
    let version = seen;
    await this.#wait(path, signal, async (fire) => {
      const send = (done: Done<Stat>) =>
        this.#client.getData(path, fire, (error, _, stat) => done(error, stat));
      const stat = await this.#find({ path, isWrite: false, check: checkStat, send });
      if (!stat) fire();
      else version = stat.version;
      return version > seen;
    });
    return version;
  }

  /** Resolves when the children of the node are no longer `names`. Rejects with `signal.reason`. */
  untilChildren(path: string, names: readonly string[], signal: AbortSignal): Promise<void> {
    return this.#wait(`${path}/`, signal, async (fire) => {
      const send = (done: Done<string[]>) => this.#client.getChildren(path, fire, done);
      const now = await this.#find({ path, isWrite: false, check: checkNames, send });
      if (!now) fire();
      return now?.toSorted().join('/') !== names.toSorted().join('/');
    });
  }

  /** The client still has the functions. */
  fail(error: Error): void {
    for (const { waiting } of this.#watches.values())
      for (const { reject } of waiting) reject(error);
  }

  /** `set` sets the watch that is called `name`, and resolves `true` when it is late. */
  async #wait(
    name: string,
    signal: AbortSignal,
    set: (fire: () => void) => Promise<boolean>,
  ): Promise<void> {
    signal.throwIfAborted();
    const watch = this.#of(name);
    const change = aWaiting();
    const stop = () => change.reject(signal.reason);
    signal.addEventListener('abort', stop, { once: true });
    watch.waiting.add(change);
    try {
      const isLate = await set(watch.fire);
      if (!isLate) await change.promise;
    } finally {
      watch.waiting.delete(change);
      signal.removeEventListener('abort', stop);
    }
  }

  #of(name: string): Watch {
    const known = this.#watches.get(name);
    if (known) return known;
    const fire = () => {
      if (this.#watches.get(name) === watch) this.#watches.delete(name); // not one that came after it
      for (const { resolve } of watch.waiting) resolve();
    };
    const watch: Watch = { fire, waiting: new Set() };
    this.#watches.set(name, watch);
    return watch;
  }
}

/** A rejection that comes before it is awaited counts as handled. */
function aWaiting(): Waiting {
  let resolve!: () => void;
  let reject!: (error: unknown) => void;
  const promise = new Promise<void>((...both) => ([resolve, reject] = both));
  promise.catch(() => {});
  return { promise, resolve, reject };
}
