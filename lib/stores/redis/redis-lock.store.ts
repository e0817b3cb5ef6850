import type { AcquireRequest, Lease, LockInspection, LockStore } from '../../core/lock-store.js';
import { slotTag } from './cluster-slot.js';
import { clientKeyPrefix } from './redis-client.js';
import type { RedisClient } from './redis-client.js';
import type { RedisScript } from './redis-script.js';
import { ACQUIRE, EXTEND, INSPECT, RELEASE } from './redis-scripts.js';

export interface RedisLockStoreOptions {
  /**
   * Stands in front of every key: `order:42` is kept at `lock:order:42`. May be empty.
   * @default 'lock:'
   */
  readonly keyPrefix?: string | undefined;
  /**
   * A grant or an extension counts only when this many replicas acknowledged it (`WAIT`, on the same connection: give the
   * store a client of its own). `0`: the master's word is enough, and a failover may lose locks.
   * @default 0
   */
  readonly replicas?: number | undefined;
  /**
   * Milliseconds to wait for the replicas.
   * @default 1_000
   */
  readonly replicaTimeout?: number | undefined;
}

/** Seconds that a fencing counter outlives the last use of its key. The clock floor makes its loss harmless. */
const COUNTER_SECONDS = 86_400;

/** Locks on one Redis master, Sentinel or Cluster, version 6 or newer. The client stays the caller's: it is never closed here. */
export class RedisLockStore implements LockStore {
  readonly name = 'redis';
  readonly supports: { readonly fencing: true; readonly ttl: true; readonly manyKeys: boolean };
  readonly #client: RedisClient;
  readonly #prefix: string;
  readonly #clientPrefix: string;
  readonly #replicas: number;
  readonly #replicaTimeout: number;

  constructor(client: RedisClient, options: RedisLockStoreOptions = {}) {
    const { keyPrefix = 'lock:', replicas = 0, replicaTimeout = 1_000 } = options;
    checkClient(client);
    checkCount('replicas', replicas, 0);
    checkCount('replicaTimeout', replicaTimeout, 1);
    if (replicas > 0 && client.isCluster) {
      throw new TypeError(
        'replicas must be 0 on a Cluster client: WAIT would ask any of its masters',
      );
    }
    if (typeof keyPrefix !== 'string') throw new TypeError('keyPrefix must be a string');
    this.supports = { fencing: true, ttl: true, manyKeys: client.isCluster !== true };
    this.#client = client;
    this.#prefix = keyPrefix;
    this.#clientPrefix = clientKeyPrefix(client);
    this.#replicas = replicas;
    this.#replicaTimeout = replicaTimeout;
  }

  async tryAcquire(request: AcquireRequest): Promise<Lease | undefined> {
    const { token, holder = '', ttl, fencingFloor = 0n } = request;
    const keys = this.#serverKeys(request.keys);
    const value = `${token}:${holder}`;
    const release = () => this.#isDone(RELEASE, keys, [value]);
    try {
      const args = [value, ttl, String(fencingFloor), COUNTER_SECONDS];
      const fence = await this.#acknowledged(ACQUIRE, keys, args);
      if (fence === null) return undefined;
      let released: Promise<boolean> | undefined;
      return {
        fencingToken: BigInt(fence as number | string),
        extend: (newTtl) => this.#isDone(EXTEND, keys, [value, newTtl, COUNTER_SECONDS]),
        release: async () => (released ? false : (released = release())),
      };
    } catch (error) {
      release().catch(() => undefined); // it may have been applied all the same; else the ttl frees the key
      throw error;
    }
  }

  async inspect(key: string): Promise<LockInspection | undefined> {
    const reply = await INSPECT.run(this.#client, this.#serverKeys([key]), []);
    if (reply === null) return undefined;
    const [value, pttl, counter] = reply as [string, number | string, string | null | undefined];
    const [fence, lastValue] = splitAt(counter ?? '', ' ');
    const remaining = Number(pttl);
    return {
      key,
      holder: splitAt(value, ':')[1] || undefined,
      remaining: remaining < 0 ? Infinity : remaining,
      fencingToken: lastValue === value ? BigInt(fence) : undefined,
    };
  }

  async #isDone(script: RedisScript, keys: readonly string[], args: (string | number)[]) {
    return Number(await this.#acknowledged(script, keys, args)) === 1;
  }

  async #acknowledged(script: RedisScript, keys: readonly string[], args: (string | number)[]) {
    const reply = await script.run(this.#client, keys, args);
    if (this.#replicas > 0 && script !== RELEASE && reply !== null) await this.#awaitReplicas();
    return reply;
  }

  /** `WAIT` speaks of the writes of its own connection only, so a reconnect in between makes its answer worthless. */
  async #awaitReplicas(): Promise<void> {
    const { stream } = this.#client;
    const acknowledged = await this.#client.wait(this.#replicas, this.#replicaTimeout);
    if (this.#client.stream !== stream) throw new Error('the connection was lost during WAIT');
    if (acknowledged >= this.#replicas) return;
    throw new Error(
      `${acknowledged} of ${this.#replicas} replicas acknowledged within ${this.#replicaTimeout} ms`,
    );
  }

  /** The lock keys, then their counters, which share the slots of their locks. */
  #serverKeys(keys: readonly string[]): readonly string[] {
    const locks = keys.map((key) => this.#prefix + key);
    const tag = (lock: string) => slotTag(this.#clientPrefix + lock);
    return [...locks, ...locks.map((lock) => `{${tag(lock)}}:fence:${lock}`)];
  }
}

function splitAt(text: string, separator: string): [before: string, after: string] {
  const index = text.indexOf(separator);
  return index < 0 ? [text, ''] : [text.slice(0, index), text.slice(index + 1)];
}

function checkClient(client: RedisClient): void {
  if (typeof client?.evalsha === 'function') return;
  throw new TypeError(
    'RedisLockStore expects an ioredis client, `new RedisLockStore(new Redis(url))`',
  );
}

function checkCount(name: string, value: unknown, from: number): void {
  if (Number.isSafeInteger(value) && (value as number) >= from) return;
  throw new RangeError(`${name} must be a whole number of at least ${from}, got ${String(value)}`);
}
