import { type Lock, LockService, type LockStore } from 'nest-holdfast';
import { StallWatch } from '../stall-watch.js';
import { until } from '../until.js';

/** Milliseconds, and longer than a server hangs here, on a machine that stands still for a while. */
export const STORE_TIMEOUT = 12_000;
/** Milliseconds, and less than there are between the warning and the loss. */
const SHORT = 300;

/** A store as a process of its own would have it. */
export interface OpenedStore {
  readonly store: LockStore;
  /** Closes what `store.close` leaves open: a client that was handed in. */
  readonly close?: () => Promise<unknown> | void;
}

/** One process of an application: a store and a service of its own, and what happened to its locks. */
export class Contender {
  readonly events: string[] = [];
  readonly #stalls = new StallWatch();
  readonly locks: LockService;
  readonly #opened: OpenedStore;
  readonly #granted: (lock: Lock) => void;
  readonly #refused: ReadonlySet<string>;
  #closed: Promise<void> | undefined;

  constructor(opened: OpenedStore, ttl: number, granted: (lock: Lock) => void) {
    this.#opened = opened;
    this.#refused = refusalsOf(opened.store);
    this.#granted = granted;
    const polling = { retryDelay: 20, retryJitter: 10 };
    const timeouts = { waitTimeout: 30_000, storeTimeout: STORE_TIMEOUT };
    this.locks = new LockService(opened.store, { ttl, ...timeouts, ...polling });
    for (const event of ['jeopardy', 'recovered', 'lost'] as const)
      this.locks.events.on(event, () => this.events.push(event));
  }

  /** Rejects when another holder still had the key, or a fencing token did not grow. */
  async acquire(key: string): Promise<Lock> {
    const lock = await this.locks.acquire(key);
    this.#granted(lock);
    return lock;
  }

  /** As `acquire`, once the server is well again: until then it may fail, but not hang. */
  acquireAgain(key: string): Promise<Lock> {
    return until(() => this.acquire(key), { within: 30_000, what: `${key} to be taken again` });
  }

  /** Resolves when the store has been asked for the key, has refused it, and has answered once more since. */
  async waits(key: string): Promise<void> {
    await until(() => this.#refused.has(key), { what: `${key} to be refused` });
    if (this.#opened.store.inspect) await this.locks.inspect(key);
  }

  /** Its lock was lost, and that was told before, unless this process stood still then. */
  expectWarned(): void {
    expect(this.events.at(-1)).toBe('lost');
    if (this.#stalls.longest < SHORT) expect(this.events[0]).toBe('jeopardy');
  }

  close(): Promise<void> {
    this.#stalls[Symbol.dispose]();
    this.#closed ??= this.locks.close().then(async () => void (await this.#opened.close?.()));
    return this.#closed;
  }
}

/** The keys that the store refuses from now on, because another caller holds them. */
function refusalsOf(store: LockStore): ReadonlySet<string> {
  const refused = new Set<string>();
  const tryAcquire = store.tryAcquire.bind(store);
  store.tryAcquire = async (request) => {
    const lease = await tryAcquire(request);
    if (!lease) refused.add(request.key);
    return lease;
  };
  return refused;
}
