import type { AcquireRequest, Clock, Lease, LockStore } from 'nest-holdfast/core';
import { sleep } from '../../../lib/core/async/sleep';

interface Entry {
  token: string | undefined;
  until: number;
  fencingToken: bigint;
}

/** One key at a time, each with a fencing counter of its own, as in a store without transactions. */
export class SingleKeyStore implements LockStore {
  readonly name = 'single';
  readonly supports = { fencing: true, ttl: true } as const;
  /** The calls that it got: `try a`, `extend a`, `release a`, … */
  readonly log: string[] = [];
  /** Runs before an attempt is answered. */
  before: (request: AcquireRequest) => Promise<void> = () => Promise.resolve();
  readonly #entries = new Map<string, Entry>();
  readonly #clock: Clock;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  async tryAcquire(request: AcquireRequest): Promise<Lease | undefined> {
    const { key, keys, token, ttl, fencingFloor = 0n } = request;
    if (keys.length > 1) throw new Error('this store takes one key at a time');
    this.log.push(`try ${key}`);
    await this.before(request);
    const entry = this.#entry(key);
    if (entry.until > this.#clock.now() && entry.token !== token) return undefined;
    const next = entry.fencingToken + 1n;
    const fencingToken = next > fencingFloor ? next : fencingFloor;
    Object.assign(entry, { token, until: this.#clock.now() + ttl, fencingToken });
    return {
      fencingToken,
      extend: async (newTtl) => this.#set('extend', key, token, newTtl),
      release: async () => this.#set('release', key, token, 0),
    };
  }

  /** The largest fencing token granted so far. */
  counterOf(key: string): bigint {
    return this.#entry(key).fencingToken;
  }

  /** Answers as slowly as the test likes. */
  slowBy(delay: () => number): void {
    this.before = () => sleep(this.#clock, delay());
  }

  #set(what: string, key: string, token: string, ttl: number): boolean {
    this.log.push(`${what} ${key}`);
    const entry = this.#entry(key);
    const isOurs = entry.token === token && entry.until > this.#clock.now();
    if (isOurs) entry.until = this.#clock.now() + ttl;
    return isOurs;
  }

  #entry(key: string): Entry {
    let entry = this.#entries.get(key);
    if (!entry) this.#entries.set(key, (entry = { token: undefined, until: 0, fencingToken: 0n }));
    return entry;
  }
}
