import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import type { AcquireRequest, Lease, LockStore } from '../../core/lock-store.js';

export interface ConformanceOptions {
  /** Registers one test: `it` of jest or vitest, `test` of node:test. */
  readonly test: (name: string, run: () => Promise<void>) => unknown;
  /** Opens a NEW store on the SAME backend. Two stores stand for two processes. */
  readonly createStore: () => LockStore | Promise<LockStore>;
  /** Lets `ms` milliseconds pass for the store. Default: waits. A store on a fake clock advances it. */
  readonly expire?: (ms: number) => Promise<void>;
}

/** One check of the suite. */
export type Check = (backend: Backend) => Promise<void>;

/** Stores of one check, with keys that no other check uses. */
export class Backend {
  readonly #options: ConformanceOptions;
  readonly #stores: LockStore[] = [];
  readonly #leases: Lease[] = [];

  constructor(options: ConformanceOptions) {
    this.#options = options;
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

  expire(ms: number): Promise<void> {
    return this.#options.expire?.(ms) ?? new Promise((resolve) => setTimeout(resolve, ms));
  }

  /** Takes a key that must be free. */
  async hold(store: LockStore, request = aRequest()): Promise<Lease> {
    const lease = await store.tryAcquire(request);
    assert.ok(lease, `"${request.keys.join(', ')}" should have been free`);
    this.#leases.push(lease);
    return lease;
  }

  async close(): Promise<void> {
    await Promise.allSettled(this.#leases.map((lease) => lease.release()));
    await Promise.allSettled(this.#stores.map(async (store) => store.close?.()));
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
