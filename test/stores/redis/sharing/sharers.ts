import { Redis } from 'ioredis';
import { type AcquireRequest, type Lease, RedisLockStore } from 'nest-holdfast';
import type { RedisServer } from '../../../support/servers/redis-server.js';
import { until } from '../../../support/until.js';
import { disconnect } from '../locks.js';
import { aRequest } from '../locks.js';
import { lineLength } from '../../../support/redis-line.js';

export function aReader(keys: string | string[], ttl?: number): AcquireRequest {
  return { ...aRequest(keys, ttl), permits: Infinity };
}

/** For one of so many permits. */
export function aPermit(permits: number, keys: string | string[], ttl?: number): AcquireRequest {
  return { ...aRequest(keys, ttl), permits };
}

/** The client and the store of one process. Nothing is extended by itself. */
export class SharingProcess implements AsyncDisposable {
  readonly redis: Redis;
  readonly store: RedisLockStore;

  constructor(url: string) {
    this.redis = new Redis(url, { retryStrategy: () => 20 });
    this.redis.on('error', () => {}); // the commands say what matters here
    this.store = new RedisLockStore(this.redis);
  }

  /** Of a key that must have room. */
  async take(request: AcquireRequest): Promise<Lease> {
    const lease = await this.store.tryAcquire(request);
    if (!lease) throw new Error(`"${request.keys.join(', ')}" should have had room`);
    return lease;
  }

  /** Stands in line, and makes a lock of the claim; once more where the machine was too slow for the claim. */
  async wait(request: AcquireRequest, signal = new AbortController().signal): Promise<Lease> {
    for (;;) {
      const lease = await this.store.acquire!(request, signal);
      if (await lease.extend(request.ttl)) return lease;
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.store.close();
    disconnect(this.redis);
  }
}

/** Callers that come into line one after the other, by name, and those that have got the lock. */
export class Line {
  readonly held: string[] = [];
  readonly #leases = new Map<string, Promise<Lease>>();
  readonly #server: RedisServer;
  readonly #key: string;

  constructor(server: RedisServer, key: string) {
    this.#server = server;
    this.#key = key;
  }

  /** Resolves when the caller stands in line. */
  async join(name: string, process: SharingProcess, request: AcquireRequest): Promise<void> {
    const count = this.#leases.size - this.held.length + 1;
    const lease = process.wait(request).then((granted) => {
      this.held.push(name);
      return granted;
    });
    lease.catch(() => {}); // awaited in `release`, if at all
    this.#leases.set(name, lease);
    await until(
      async () =>
        (await lineLength((...words) => this.#server.command(...words), `lock:${this.#key}`)) ===
        count,
      {
        what: `${name} to stand in line`,
      },
    );
  }

  /** Resolves when exactly these have got the lock, in any order. */
  async reached(...names: string[]): Promise<void> {
    await until(() => this.held.length >= names.length, { what: `${names.join(', ')} to get it` });
    expect(this.held.toSorted()).toEqual(names.toSorted());
  }

  async release(name: string): Promise<void> {
    const lease = await this.#leases.get(name)!;
    expect(await lease.release()).toBe(true);
  }
}
