import { setTimeout as pause } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { type Lock, LockService, RedisLockStore } from 'nest-holdfast';
import { disconnect } from '../../stores/redis/locks.js';

/** Longer than a failover takes: a holder may keep its lock. */
const TTL = 6_000;

interface Grants {
  /** The granted locks that may still be valid. */
  readonly open: Set<Lock>;
  count: number;
  largest: bigint;
}

/** Violations that were seen. */
export interface Findings {
  /** Grants during which another lock of the key was still valid. */
  doubles: number;
  /** Grants with a fencing token that is not larger than all before it. */
  stale: number;
}

/** Several clients in one process, and so on one clock, that want the same key, over and over. */
export class Contenders {
  readonly findings: Findings = { doubles: 0, stale: 0 };
  /** Each holder keeps the lock, as long as it is valid. */
  keepsHolding = false;
  readonly #grants: Grants = { open: new Set(), count: 0, largest: 0n };
  readonly #each: Contender[];

  constructor(key: string, client: object, replicas: number, random: () => number) {
    this.#each = [1, 2, 3].map(() => new Contender(key, client, replicas, random, this));
  }

  get isHeld(): boolean {
    return this.#each.some(({ lock }) => lock?.isHeld);
  }

  get granted(): number {
    return this.#grants.count;
  }

  /** How often each of them has asked so far. */
  get attempts(): readonly number[] {
    return this.#each.map(({ attempts }) => attempts);
  }

  /** Every one holds the lock beyond doubt, or has asked since. */
  haveSeen(since: readonly number[]): boolean {
    return this.#each.every((each, index) =>
      each.lock ? each.lock.state !== 'jeopardy' && each.isReady : each.attempts > since[index]!,
    );
  }

  /** Called in the turn in which the lock arrives: two are valid at a time if and only if one is when the other is granted. */
  granting(lock: Lock): void {
    const { open } = this.#grants;
    for (const other of open) if (!other.isHeld) open.delete(other);
    if (lock.isHeld && open.size > 0) this.findings.doubles += 1;
    open.add(lock);
    this.#grants.count += 1;
    if (lock.fencingToken <= this.#grants.largest) this.findings.stale += 1;
    else this.#grants.largest = lock.fencingToken;
  }

  async stop(): Promise<void> {
    this.keepsHolding = false;
    await Promise.all(this.#each.map((each) => each.stop()));
  }
}

class Contender {
  attempts = 0;
  lock: Lock | undefined;
  readonly #redis: Redis;
  readonly #locks: LockService;
  readonly #all: Contenders;
  readonly #random: () => number;
  readonly #done: Promise<void>;
  #isStopped = false;

  constructor(
    key: string,
    client: object,
    replicas: number,
    random: () => number,
    all: Contenders,
  ) {
    // prettier-ignore
    this.#redis = new Redis({ ...client, retryStrategy: () => 50 });
    this.#redis.on('error', () => {}); // the attempts say what matters here
    const store = new RedisLockStore(this.#redis, { replicas, replicaTimeout: 300 });
    this.#locks = new LockService(store, { ttl: TTL, storeTimeout: 2_000 });
    this.#all = all;
    this.#random = random;
    this.#done = this.#contend(key);
  }

  get isReady(): boolean {
    return this.#redis.status === 'ready';
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    await this.#done;
    await this.#locks.close();
    disconnect(this.#redis);
  }

  /** Asks once or stands in line, holds for a while, and leaves the key alone for a while. */
  async #contend(key: string): Promise<void> {
    while (!this.#isStopped) {
      const waitTimeout = this.#random() < 0.5 ? 0 : 500;
      try {
        this.lock = await this.#locks.acquire(key, { waitTimeout });
        this.#all.granting(this.lock);
        await this.#hold(this.lock);
        await this.lock.release();
      } catch {
        // held by another one, or no store: neither is a grant
      }
      this.lock = undefined;
      this.attempts += 1;
      await pause(this.#random() * 100);
    }
  }

  async #hold(lock: Lock): Promise<void> {
    await pause(this.#random() * 100);
    while (this.#all.keepsHolding && lock.isHeld) await pause(5);
  }
}
