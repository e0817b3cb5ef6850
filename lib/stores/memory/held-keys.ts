import type { Clock } from '../../core/async/clock.js';
import type { AcquireRequest } from '../../core/contract/lock-store.js';
import { TimerQueue } from '../../core/async/timer-queue.js';
import type { QueuedTimer } from '../../core/async/timer-queue.js';

interface Holder {
  readonly holder: string | undefined;
  /** By the clock, of the grant. */
  readonly since: number;
  readonly expiry: QueuedTimer;
}

/** A held key: of one exclusive holder, or of several sharers. */
export interface HeldKey {
  /** Grows with every key that is taken. */
  readonly serial: number;
  /** How many may share it. Missing: its holder is exclusive. */
  permits: number | undefined;
  fencingToken: bigint | undefined;
  /** By token, in the order in which they came. */
  readonly holders: Map<string, Holder>;
}

/** The holders of each key, and until when they hold it. */
export class HeldKeys {
  readonly #clock: Clock;
  readonly #freed: (key: string) => void;
  readonly #expiries: TimerQueue;
  readonly #held = new Map<string, HeldKey>();
  #taken = 0;

  /** `freed` is called when a ttl has passed. */
  constructor(clock: Clock, freed: (key: string) => void) {
    this.#clock = clock;
    this.#freed = freed;
    this.#expiries = new TimerQueue(clock);
  }

  /** In the order in which they were taken. */
  all(): string[] {
    return [...this.#held.keys()].filter((key) => this.find(key));
  }

  /** The keys that were taken after `serial`, in that order. */
  *after(serial: number): Generator<[key: string, held: HeldKey]> {
    for (const [key, known] of this.#held) {
      const held = known.serial > serial && this.find(key);
      if (held) yield [key, held];
    }
  }

  /** Timers run late: the clock decides whether a holder still has a key. */
  find(key: string): HeldKey | undefined {
    const held = this.#held.get(key);
    if (!held) return undefined;
    const now = this.#clock.now();
    for (const [token, { expiry }] of held.holders)
      if (expiry.due <= now) held.holders.delete(token); // its timer has not fired yet
    if (held.holders.size > 0) return held;
    this.#held.delete(key);
    return undefined;
  }

  areHeldBy(keys: readonly string[], token: string): boolean {
    return keys.every((key) => this.find(key)?.holders.has(token));
  }

  /** For a key that is free, shared with the same permits, or held by this token already. */
  take(key: string, request: AcquireRequest, fencingToken: bigint | undefined): void {
    const { token, ttl, holder, permits } = request;
    let held = this.find(key);
    const serial = ++this.#taken;
    if (!held) this.#held.set(key, (held = { serial, permits, fencingToken, holders: new Map() }));
    const known = held.holders.get(token);
    if (known) this.#expiries.remove(known.expiry);
    held.fencingToken = fencingToken;
    const now = this.#clock.now();
    const expiry = this.#expiries.add(now + ttl, () => this.#expire(key));
    held.holders.set(token, { holder, since: known?.since ?? now, expiry });
  }

  /** For a key that this token holds. */
  extend(key: string, token: string, ttl: number): void {
    this.#expiries.move(this.#held.get(key)!.holders.get(token)!.expiry, this.#clock.now() + ttl);
  }

  /** `false`: this token does not hold it. */
  release(key: string, token: string): boolean {
    const held = this.find(key);
    const holder = held?.holders.get(token);
    if (!holder) return false;
    this.#expiries.remove(holder.expiry);
    held!.holders.delete(token);
    if (held!.holders.size === 0) this.#held.delete(key);
    return true;
  }

  #expire(key: string): void {
    this.find(key); // forgets it, where no caller waits
    this.#freed(key);
  }
}
