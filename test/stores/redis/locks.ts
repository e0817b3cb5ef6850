import { randomUUID } from 'node:crypto';
import { Redis, type RedisOptions } from 'ioredis';
import { type AcquireRequest, type LockOptions, LockService, RedisLockStore } from 'nest-holdfast';
import { ServerKeys } from '../../../lib/stores/redis/keys/server-keys.js';

/** Closes a client, also one that never got through. */
export function disconnect(client: { status: string; disconnect(): void }): void {
  if (client.status !== 'end') client.disconnect(); // on an ended client it would leave a timer for two seconds
}

/** A client that reconnects fast and closes with its block. */
export class OwnClient implements AsyncDisposable {
  readonly redis: Redis;

  constructor(url: string, options: RedisOptions = {}) {
    this.redis = new Redis(url, { retryStrategy: () => 20, ...options });
    this.redis.on('error', () => {}); // the commands say what matters here
  }

  async [Symbol.asyncDispose](): Promise<void> {
    disconnect(this.redis);
  }
}

interface RedisLocksOptions extends LockOptions {
  readonly client?: RedisOptions;
}

/** The client, store and service of one process of an application. They close with their block. */
export class RedisLocks implements AsyncDisposable {
  readonly redis: Redis;
  readonly store: RedisLockStore;
  readonly locks: LockService;
  readonly #client: OwnClient;

  constructor(url: string, { client, ...options }: RedisLocksOptions = {}) {
    this.#client = new OwnClient(url, client);
    this.redis = this.#client.redis;
    this.store = new RedisLockStore(this.redis);
    this.locks = new LockService(this.store, options);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.locks.close();
    await this.#client[Symbol.asyncDispose]();
  }
}

/** Where the fencing tokens of `lock:<key>` come from on one server. */
export function markOf(key: string): string {
  return new ServerKeys('lock:', '', true).with(['fence'], [key])[1]!;
}

/** One attempt for `keys`, with a token of its own. */
export function aRequest(keys: string | string[], ttl = 30_000): AcquireRequest {
  const all = [keys].flat();
  return { key: all[0]!, keys: all, ttl, token: randomUUID(), holder: 'test:1:2' };
}
