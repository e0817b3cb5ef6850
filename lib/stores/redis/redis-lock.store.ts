import type { AcquireRequest, Lease, LockInspection, LockStore } from '../../core/lock-store.js';
import { slotTag } from './cluster-slot.js';
import { clientKeyPrefix } from './redis-client.js';
import type { RedisClient } from './redis-client.js';
import type { RedisScript } from './redis-script.js';
import { ACQUIRE, EXTEND, INSPECT, RELEASE } from './redis-scripts.js';
import { WriteBatch } from './write-batch.js';

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
  /**
   * Lets the commands of one turn of the event loop leave in one write, by corking the client's connection until the turn is
   * over. Twice as fast where many locks are taken at once.
   * @default true
   */
  readonly batchWrites?: boolean | undefined;
}

type Args = readonly (string | number)[];
type Read<T> = (reply: unknown) => T;

/** Locks on one Redis master, Sentinel or Cluster, version 6.2 or newer. The client stays the caller's: it is never closed here. */
export class RedisLockStore implements LockStore {
  readonly name = 'redis';
  readonly supports: { readonly fencing: true; readonly ttl: true; readonly manyKeys: boolean };
  readonly #client: RedisClient;
  readonly #prefix: string;
  readonly #clientPrefix: string;
  readonly #replicas: number;
  readonly #replicaTimeout: number;
  readonly #batch: WriteBatch | undefined;

  constructor(client: RedisClient, options: RedisLockStoreOptions = {}) {
    const {
      keyPrefix = 'lock:',
      replicas = 0,
      replicaTimeout = 1_000,
      batchWrites = true,
    } = options;
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
    this.#batch = batchWrites ? new WriteBatch(client) : undefined;
    this.#replicaTimeout = replicaTimeout;
  }

  tryAcquire(request: AcquireRequest): Promise<Lease | undefined> {
    const { token, holder = '', ttl, fencingFloor } = request;
    const keys = this.#serverKeys(request.keys);
    const value = `${token}:${holder}`;
    const args = fencingFloor === undefined ? [value, ttl] : [value, ttl, String(fencingFloor)];
    const read = (fence: unknown) => (fence === null ? undefined : this.#lease(keys, value, fence));
    const abandon = (error: unknown): never => {
      // it may have been applied all the same; where this fails too, the ttl frees the key
      this.#run(RELEASE, keys, [value], isOne).catch(() => undefined);
      throw error;
    };
    const lease = this.#run(ACQUIRE, keys, args, read, abandon);
    return this.#replicas === 0 ? lease : this.#acknowledged(lease).catch(abandon);
  }

  async inspect(key: string): Promise<LockInspection | undefined> {
    const reply = await this.#run(INSPECT, this.#serverKeys([key]), [], asInspection);
    if (!reply) return undefined;
    const [value, pttl, counter] = reply;
    const [fence, lastValue] = splitAt(counter ?? '', ' ');
    const remaining = Number(pttl);
    return {
      key,
      holder: splitAt(value, ':')[1] || undefined,
      remaining: remaining < 0 ? Infinity : remaining,
      fencingToken: lastValue === value ? BigInt(fence) : undefined,
    };
  }

  #lease(keys: readonly string[], value: string, fence: unknown): Lease {
    let isReleased = false;
    return {
      fencingToken: BigInt(fence as number | string), // a string where the client makes strings of numbers
      extend: (ttl) => {
        const isExtended = this.#run(EXTEND, keys, [value, ttl], isOne);
        return this.#replicas === 0 ? isExtended : this.#acknowledged(isExtended);
      },
      release: () => {
        if (isReleased) return Promise.resolve(false);
        isReleased = true;
        return this.#run(RELEASE, keys, [value], isOne);
      },
    };
  }

  #run<T>(
    script: RedisScript,
    keys: readonly string[],
    args: Args,
    read: Read<T>,
    failed?: (error: unknown) => never,
  ): Promise<T> {
    this.#batch?.join();
    return script.run(this.#client, keys, args, read, failed);
  }

  /** An answer that changed something counts only once the replicas have the change. */
  async #acknowledged<T>(answer: Promise<T>): Promise<T> {
    const value = await answer;
    if (value) await this.#awaitReplicas();
    return value;
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
    return [...locks, ...locks.map((lock) => this.#counterOf(lock))];
  }

  #counterOf(lock: string): string {
    const tag = slotTag(this.#clientPrefix + lock);
    return tag === lock ? `{${lock}}:fence` : `{${tag}}:fence:${lock}`;
  }
}

function isOne(reply: unknown): boolean {
  return Number(reply) === 1;
}

type Inspected = [value: string, pttl: number | string, counter: string | null | undefined];

function asInspection(reply: unknown): Inspected | null {
  return reply as Inspected | null;
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
