import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { AcquireRequest, Lease, LockStore } from '../../core/contract/lock-store.js';
import type { ConformanceOptions } from './conformance-options.js';

/** A ttl of so many milliseconds and less is there to expire, and may do so too early on a machine that is busy. */
const SHORT_TTL = 1_000;
/** Milliseconds for which a store keeps a key, at the least, for the waiter that it hands it to. */
const CLAIM = 1_000;
/** A store hands nothing off until it knows whether another process waits, or while a server of it is late. */
const CHAINS_TRIED = 30;

/** Stores of one check, with keys that no other check uses. */
export class Backend {
  readonly #options: ConformanceOptions;
  /** The factor by which short ttls are longer. */
  readonly #stretch: number;
  readonly #stores: LockStore[] = [];
  readonly #leases: Lease[] = [];
  /** By `performance.now()`: when the first of the short ttls may have passed. */
  #hurry = Infinity;
  #wasTooSlow = false;

  constructor(options: ConformanceOptions, stretch = 1) {
    this.#options = options;
    this.#stretch = stretch;
  }

  async store(): Promise<LockStore> {
    const store = await this.#options.createStore();
    this.#stores.push(store);
    return store;
  }

  /** Two stores, as two processes would have. */
  async stores(): Promise<[LockStore, LockStore]> {
    return [await this.store(), await this.store()];
  }

  /** Whether a ttl or a claim may have passed too early: the check then proves nothing. */
  get wasTooSlow(): boolean {
    return this.#wasTooSlow || performance.now() > this.#hurry;
  }

  /** Lets `ms` pass, stretched like the ttls. */
  expire(ms: number): Promise<void> {
    this.#wasTooSlow = this.wasTooSlow;
    this.#hurry = Infinity;
    const stretched = ms * this.#stretch;
    return this.#options.expire?.(stretched) ?? sleep(stretched);
  }

  /** Ends the session of a store. Only for checks that need it. */
  async endSession(store: LockStore): Promise<void> {
    await this.#options.endSession!(store);
  }

  /** Breaks the connection of a store. Only for checks that need it. */
  async disconnect(store: LockStore): Promise<void> {
    await this.#options.disconnect!(store);
  }

  /** Takes a key that must be free. */
  async hold(store: LockStore, given = aRequest()): Promise<Lease> {
    const isShort = given.ttl <= SHORT_TTL;
    const request = isShort ? { ...given, ttl: given.ttl * this.#stretch } : given;
    if (isShort) this.#hurry = Math.min(this.#hurry, performance.now() + request.ttl / 2);
    const lease = await store.tryAcquire(request);
    assert.ok(lease, `"${request.keys.join(', ')}" should have been free`);
    this.#leases.push(lease);
    return lease;
  }

  /**
   * Takes keys that must be free, and hands them off once for each of `renews`. Returns all the leases, the first one first, or
   * `undefined` if the store hands nothing off.
   */
  async handOff(
    store: LockStore,
    request: AcquireRequest,
    ...renews: boolean[]
  ): Promise<Lease[] | undefined> {
    for (let tries = 0; tries < CHAINS_TRIED; tries++) {
      const leases = [await this.hold(store, request)];
      for (const renew of renews) {
        const next = await leases.at(-1)!.handOff?.(30_000, renew);
        if (!next) break;
        this.#leases.push(next);
        leases.push(next);
      }
      if (leases.length > renews.length) return leases;
      await leases.at(-1)!.release();
      await sleep(tries * 10);
    }
    return undefined;
  }

  /** Waits in the store's queue until the lease is whole. */
  wait(store: LockStore, request: AcquireRequest): Promise<Lease> {
    const lease = this.#whole(store, request);
    lease.catch(() => {}); // the check may come to it later
    return lease;
  }

  async close(): Promise<void> {
    await Promise.allSettled(this.#leases.map((lease) => lease.release()));
    await Promise.allSettled(this.#stores.map(async (store) => store.close?.()));
  }

  async #whole(store: LockStore, request: AcquireRequest): Promise<Lease> {
    const since = performance.now();
    const lease = await store.acquire!(request, new AbortController().signal);
    if (store.supports.ttl && !(await lease.extend(30_000))) {
      this.#wasTooSlow ||= performance.now() - since > CLAIM / 2;
      assert.fail('a lease from the queue was lost before it could be extended');
    }
    return lease;
  }
}

/** A request for a fresh key unless told otherwise, with a token of its own. */
export function aRequest({
  keys = [aKey()],
  ttl = 30_000,
  permits,
}: {
  keys?: string[];
  ttl?: number;
  permits?: number | undefined;
} = {}): AcquireRequest {
  const holder = `conformance:${process.pid}:0`;
  return { key: keys[0]!, keys, ttl, permits, token: randomUUID(), holder };
}

export function aKey(): string {
  return `conformance:${randomUUID()}`;
}
