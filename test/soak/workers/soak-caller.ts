import { setTimeout as sleep } from 'node:timers/promises';
import type { Lock, LockOptions, LockService, LockStore } from 'nest-holdfast';
import { READERS } from '../../support/histories/history.js';
import { now } from '../../support/histories/workers/history-store.js';
import type { SoakLog } from './soak-log.js';

export const TTL = 2_000;
/** Milliseconds between two looks of a holder at its lock. */
const LOOKS = 100;
/** Milliseconds after which a wait is cancelled. */
const LONGEST_WAIT = 20_000;

interface Choice {
  readonly keys: readonly string[];
  readonly options: LockOptions;
  readonly permits?: number;
}

/** Calls under the decorator's lock. */
export type Decorated = (work: (lock: Lock) => Promise<void>) => Promise<void>;

/** Takes and frees locks of every kind. */
export class SoakCaller {
  readonly #locks: LockService;
  readonly #log: SoakLog;
  readonly #random: () => number;
  readonly #supports: LockStore['supports'];
  readonly #decorated: Decorated | undefined;

  constructor(
    locks: LockService,
    { supports }: LockStore,
    log: SoakLog,
    random: () => number,
    decorated: Decorated | undefined,
  ) {
    this.#locks = locks;
    this.#log = log;
    this.#random = random;
    this.#supports = supports;
    this.#decorated = decorated;
  }

  async once(): Promise<void> {
    const kind = Math.floor(this.#random() * 6);
    if (kind === 5 && this.#decorated) return this.#callDecorated(this.#decorated);
    await this.#take(this.#choice(kind));
  }

  async #callDecorated(decorated: Decorated): Promise<void> {
    const asks = [this.#log.nextAsk()];
    try {
      await decorated((lock) => this.#held(asks, lock));
    } catch (error) {
      this.#log.refused(error);
    }
  }

  /** One key is held by one, one has readers and writers, one has permits, two are taken together. */
  #choice(kind: number): Choice {
    const { readLocks, semaphores } = this.#supports;
    if (kind === 1 && readLocks && this.#random() < 0.75)
      return { keys: ['b'], options: { mode: 'read' }, permits: READERS };
    if (kind === 2 && semaphores) return { keys: ['c'], options: { permits: 3 }, permits: 3 };
    if (kind === 3) return { keys: this.#random() < 0.5 ? ['d', 'e'] : ['e', 'd'], options: {} };
    return { keys: ['abca'[kind] ?? 'a'], options: {} };
  }

  /** Once, or until it is cancelled. The order of calls for several keys is not checked: they leave queues meanwhile. */
  async #take({ keys, options, permits }: Choice): Promise<void> {
    const asks = keys.map(() => this.#log.nextAsk());
    const isOrdered = keys.length === 1;
    const [ask] = asks as [number];
    if (isOrdered) this.#log.record({ is: 'asked', ask, key: keys[0]!, permits, at: now() });
    const canceller = new AbortController();
    const cancel = (): void => {
      if (isOrdered) this.#log.record({ is: 'cancelled', ask, at: now() });
      canceller.abort();
    };
    const isOnce = this.#random() > 0.9;
    const isShort = this.#random() < 0.15;
    const timer = setTimeout(cancel, isShort ? this.#random() * 200 : LONGEST_WAIT);
    try {
      const all = [...keys];
      const lock = isOnce
        ? await this.#locks.tryAcquire(all, options)
        : await this.#locks.acquire(all, { ...options, signal: canceller.signal });
      clearTimeout(timer);
      if (lock) await this.#release(asks, lock);
      else if (isOrdered) this.#log.record({ is: 'refused', ask, at: now(), why: 'held' });
    } catch (error) {
      const why = this.#log.refused(error);
      if (isOrdered) this.#log.record({ is: 'refused', ask, at: now(), why });
    } finally {
      clearTimeout(timer);
    }
  }

  async #release(asks: readonly number[], lock: Lock): Promise<void> {
    await this.#held(asks, lock);
    await lock.release();
  }

  /** Holds the lock for a while: mostly short, and now and then for so long that it has to be extended. */
  async #held(asks: readonly number[], lock: Lock): Promise<void> {
    this.#recordGrant(asks, lock);
    const lost = (): void => {
      for (const ask of asks) this.#log.record({ is: 'lost', ask, at: now() });
    };
    if (lock.signal.aborted) lost();
    else lock.signal.addEventListener('abort', lost, { once: true });
    const kind = this.#random();
    await this.#holdFor(kind < 0.02 ? TTL : kind * 60, asks, lock);
    if (this.#random() < 0.05) await lock.extend(TTL).catch(() => undefined);
    this.#look(asks, lock);
    lock.signal.removeEventListener('abort', lost);
    for (const ask of asks) this.#log.record({ is: 'released', ask, at: now() });
  }

  #recordGrant(asks: readonly number[], lock: Lock): void {
    const at = now(); // before the first look, so that a process that is stopped here is not taken for a holder
    const permits = lock.permits === undefined ? undefined : Math.min(lock.permits, READERS);
    const token = permits === undefined ? Number(lock.fencingToken) : undefined;
    asks.forEach((ask, index) => {
      const key = lock.keys[index]!;
      this.#log.record({ is: 'granted', ask, key, token, permits, at, from: 'attempt' });
    });
    this.#look(asks, lock);
  }

  /** Says that the lock was held at a moment before the question. */
  #look(asks: readonly number[], lock: Lock): void {
    const at = now();
    if (lock.isHeld) for (const ask of asks) this.#log.record({ is: 'seen', ask, at });
  }

  async #holdFor(milliseconds: number, asks: readonly number[], lock: Lock): Promise<void> {
    const end = performance.now() + milliseconds;
    for (let left = milliseconds; left > 0; left = end - performance.now()) {
      this.#look(asks, lock);
      await sleep(Math.min(left, LOOKS));
    }
  }
}
