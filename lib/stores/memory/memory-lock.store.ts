import { systemClock } from '../../core/clock.js';
import type { Clock } from '../../core/clock.js';
import type {
  AcquireRequest,
  FencingRange,
  Lease,
  LockInspection,
  LockStore,
} from '../../core/lock-store.js';
import { TimerQueue } from '../../core/timer-queue.js';
import type { QueuedTimer } from '../../core/timer-queue.js';

interface Entry {
  readonly token: string;
  readonly holder: string | undefined;
  fencingToken: bigint;
  readonly expiry: QueuedTimer;
}

/** Locks inside one process: for tests, for development and for applications that run once. */
export class MemoryLockStore implements LockStore {
  readonly name: string = 'memory';
  readonly supports = { fencing: true, ttl: true, manyKeys: true } as const;
  readonly #clock: Clock;
  readonly #expiries: TimerQueue;
  readonly #entries = new Map<string, Entry>();
  /** Starts at the time of day in microseconds: what the tokens guard may outlive the process. */
  #lastFencingToken = BigInt(Math.floor((performance.timeOrigin + performance.now()) * 1_000));

  constructor(clock: Clock = systemClock) {
    this.#clock = clock;
    this.#expiries = new TimerQueue(clock);
  }

  async tryAcquire(request: AcquireRequest): Promise<Lease | undefined> {
    return this.grant(request);
  }

  async inspect(key: string): Promise<LockInspection | undefined> {
    const entry = this.#live(key);
    if (!entry) return undefined;
    const { holder, fencingToken, expiry } = entry;
    return { key, holder, fencingToken, remaining: expiry.due - this.#clock.now() };
  }

  /** The keys that are held now, in the order in which they were taken. */
  held(): string[] {
    return [...this.#entries.keys()].filter((key) => this.#live(key));
  }

  /** One attempt, in one turn: nobody comes between the answer and what is made of it. */
  protected grant(request: AcquireRequest): Lease | undefined {
    const { keys, token, ttl, holder, fencingFloor = 0n } = request;
    if (keys.some((key) => this.#isHeldByAnother(key, token))) return undefined;
    const next = this.#lastFencingToken + 1n;
    const fencingToken = next > fencingFloor ? next : fencingFloor;
    this.#lastFencingToken = fencingToken;
    for (const key of keys) {
      this.#forget(key);
      this.#entries.set(key, { token, holder, fencingToken, expiry: this.#expire(key, ttl) });
    }
    return {
      fencingToken,
      extend: async (newTtl) => this.#extend(keys, token, newTtl),
      release: async () => this.#release(keys, token),
      raiseFencing: async (range) => this.#raiseFencing(keys, token, range),
    };
  }

  /** Called after keys became free: they were released, or their ttl has passed. Must not throw. */
  protected freed(_keys: readonly string[]): void {}

  #extend(keys: readonly string[], token: string, ttl: number): boolean {
    if (!keys.every((key) => this.#live(key)?.token === token)) return false;
    for (const key of keys) {
      this.#expiries.move(this.#entries.get(key)!.expiry, this.#clock.now() + ttl);
    }
    return true;
  }

  #raiseFencing(keys: readonly string[], token: string, { from, to }: FencingRange): boolean {
    const entries = keys.map((key) => this.#live(key));
    if (!entries.every((entry) => entry?.token === token && entry.fencingToken <= from))
      return false;
    for (const entry of entries) entry!.fencingToken = to;
    if (to > this.#lastFencingToken) this.#lastFencingToken = to;
    return true;
  }

  #release(keys: readonly string[], token: string): boolean {
    const own = keys.filter((key) => this.#live(key)?.token === token);
    for (const key of own) this.#forget(key);
    this.freed(own);
    return own.length === keys.length;
  }

  #isHeldByAnother(key: string, token: string): boolean {
    const entry = this.#live(key);
    return entry !== undefined && entry.token !== token;
  }

  /** Timers run late; the clock decides. */
  #live(key: string): Entry | undefined {
    const entry = this.#entries.get(key);
    return entry && entry.expiry.due > this.#clock.now() ? entry : undefined;
  }

  #expire(key: string, ttl: number): QueuedTimer {
    return this.#expiries.add(this.#clock.now() + ttl, () => {
      this.#entries.delete(key);
      this.freed([key]);
    });
  }

  #forget(key: string): void {
    const entry = this.#entries.get(key);
    if (!entry) return;
    this.#expiries.remove(entry.expiry);
    this.#entries.delete(key);
  }
}
