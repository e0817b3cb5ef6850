import { systemClock, timeOfDay } from '../../core/async/clock.js';
import type { Clock } from '../../core/async/clock.js';
import { LockPermitsError } from '../../core/contract/lock-errors.js';
import type {
  AcquireRequest,
  EvictRequest,
  FencingRange,
  HolderAnswer,
  Lease,
  LockInspection,
  LockListQuery,
  LockPage,
  LockStore,
  LockStoreFeatures,
  NamedHolder,
  StoreNotice,
} from '../../core/contract/lock-store.js';
import { aClock } from '../../core/options/option-rules.js';
import { MemoryEvictions } from './eviction.js';
import { HeldKeys } from './held-keys.js';
import type { HeldKey } from './held-keys.js';
import { inspectionOf, listHeld } from './inspection.js';
import { MemoryQueue } from './memory-queue.js';
import { READERS, isShared } from '../../core/sharing/hold-mode.js';

/** Locks inside one process: for tests, for development and for applications that run once. */
export class MemoryLockStore implements LockStore {
  readonly name: string = 'memory';
  readonly supports: LockStoreFeatures = {
    fencing: true,
    ttl: true,
    manyKeys: true,
    queuesManyKeys: true,
    readLocks: true,
    semaphores: true,
  };
  protected readonly queue = new MemoryQueue();
  readonly #clock: Clock;
  readonly #keys: HeldKeys;
  readonly #evictions: MemoryEvictions;
  /** Starts at the time of day in microseconds: the guarded resource may outlive the process. */
  #lastFencingToken = BigInt(Math.floor(timeOfDay() * 1_000));

  /** Throws `TypeError` for what is no clock. */
  constructor(clock: Clock = systemClock) {
    aClock('MemoryLockStore: the clock', clock);
    this.#clock = clock;
    this.#keys = new HeldKeys(clock, (key) => this.freed([key]));
    this.#evictions = new MemoryEvictions(this.#keys);
  }

  async tryAcquire(request: AcquireRequest): Promise<Lease | undefined> {
    const { keys, token, permits } = request;
    this.#checkPermits(request);
    const wanted = keys.filter((key) => !this.#keys.areHeldBy([key], token));
    const isBehind = isShared(permits) && this.queue.isAwaited(wanted);
    return isBehind ? undefined : this.grant(request);
  }

  async acquire(request: AcquireRequest, signal: AbortSignal): Promise<Lease> {
    this.#checkPermits(request);
    return this.queue.wait(request, () => this.grantQueued(request), signal);
  }

  /** Each by itself, for one deadline of core's: ten thousand held locks take half the time. */
  async extendMany(leases: readonly Lease[], ttl: number): Promise<ReadonlyMap<Lease, unknown>> {
    const exceptions = new Map<Lease, unknown>();
    const answers = await Promise.allSettled(leases.map((lease) => lease.extend(ttl)));
    answers.forEach((answer, index) => {
      if (answer.status === 'rejected') exceptions.set(leases[index]!, answer.reason);
      else if (!answer.value) exceptions.set(leases[index]!, false);
    });
    return exceptions;
  }

  async inspect(key: string): Promise<LockInspection | undefined> {
    const held = this.#keys.find(key);
    return held && this.#inspection(key, held);
  }

  async list(query: LockListQuery): Promise<LockPage> {
    return listHeld(this.#keys, query, (key, held) => this.#inspection(key, held));
  }

  async askHolder(named: NamedHolder, grace: number): Promise<HolderAnswer> {
    return this.#evictions.ask(named, grace);
  }

  async evict(request: EvictRequest): Promise<HolderAnswer> {
    return this.#evictions.take(request, () => this.grant(request));
  }

  /** Tells of evictions. */
  observe(tell: (notice: StoreNotice) => void): void {
    this.#evictions.observers.add(tell);
  }

  /** The keys that are held now, in the order in which they were taken. */
  held(): string[] {
    return this.#keys.all();
  }

  /** One attempt, in one turn: no other caller comes between the answer and its effect. */
  protected grant(request: AcquireRequest): Lease | undefined {
    const { keys, token, permits, fencingFloor } = request;
    if (!keys.every((key) => this.#admits(key, request))) return undefined;
    const fencingToken = isShared(permits) ? undefined : this.#mint(fencingFloor);
    for (const key of keys) this.#keys.take(key, request, fencingToken);
    let isSharer = isShared(permits);
    return {
      get fencingToken() {
        return isSharer ? undefined : fencingToken;
      },
      extend: async (newTtl) => this.#extend(keys, token, newTtl),
      release: async () => this.#release(keys, token),
      raiseFencing: async (range) => this.#raiseFencing(keys, token, range),
      downgrade: async () => (isSharer = this.#downgrade(keys, token)),
    };
  }

  /** As `grant`, for a waiter. Throws to end the wait. */
  protected grantQueued(request: AcquireRequest): Lease | undefined {
    return this.grant(request);
  }

  /** Called after keys became free, or one of several has left them. Must not throw. */
  protected freed(keys: readonly string[]): void {
    this.queue.stir(keys);
  }

  /** Throws `LockPermitsError`. */
  #admits(key: string, { token, permits }: AcquireRequest): boolean {
    const held = this.#keys.find(key);
    if (!held || held.holders.has(token)) return true;
    if (!isShared(permits) || !isShared(held.permits)) return false;
    if (permits !== held.permits) throw new LockPermitsError(key, permits, held.permits);
    return held.holders.size < permits;
  }

  /** Throws `LockPermitsError` when a caller waits to share a key with other permits. */
  #checkPermits({ keys, permits }: AcquireRequest): void {
    if (!isShared(permits)) return;
    for (const key of keys) {
      const inUse = this.queue.permitsOf(key);
      if (inUse !== undefined && inUse !== permits) throw new LockPermitsError(key, permits, inUse);
    }
  }

  #inspection(key: string, held: HeldKey): LockInspection {
    return inspectionOf(key, held, this.queue, this.#clock.now());
  }

  #mint(floor = 0n): bigint {
    const next = this.#lastFencingToken + 1n;
    this.#lastFencingToken = next > floor ? next : floor;
    return this.#lastFencingToken;
  }

  #extend(keys: readonly string[], token: string, ttl: number): boolean {
    if (!this.#keys.areHeldBy(keys, token)) return false;
    for (const key of keys) this.#keys.extend(key, token, ttl);
    return true;
  }

  #raiseFencing(keys: readonly string[], token: string, { from, to }: FencingRange): boolean {
    if (!this.#keys.areHeldBy(keys, token)) return false;
    const held = keys.map((key) => this.#keys.find(key)!);
    if (!held.every(({ fencingToken }) => fencingToken !== undefined && fencingToken <= from))
      return false;
    for (const each of held) each.fencingToken = to;
    if (to > this.#lastFencingToken) this.#lastFencingToken = to;
    return true;
  }

  #downgrade(keys: readonly string[], token: string): boolean {
    if (!this.#keys.areHeldBy(keys, token)) return false;
    for (const key of keys) this.#keys.find(key)!.permits = READERS;
    this.freed(keys);
    return true;
  }

  #release(keys: readonly string[], token: string): boolean {
    const own = keys.filter((key) => this.#keys.release(key, token));
    this.freed(own);
    return own.length === keys.length;
  }
}
