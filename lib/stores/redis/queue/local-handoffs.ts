import { systemClock } from '../../../core/async/clock.js';
import { waitAtMost } from '../../../core/async/sleep.js';
import { LocalHandoff } from './local-handoff.js';
import type { FreeMoments } from './free-moments.js';
import type { WakeUpChannel } from './wake-up-channel.js';

/** Fraction of a ttl for which the first subscription is waited for, as a divisor. */
const LISTENED = 10;
/** Below this many, nothing needs to be swept. */
const SWEEP_FROM = 1_000;

/** The locks of one store that are handed off inside its process, without a command (`bench/contended.mjs`). */
export class LocalHandoffs {
  readonly #wakeUps: WakeUpChannel;
  readonly #limit: number;
  readonly #freeMoments: FreeMoments;
  /** Weak: a lost lock ends without notice to the store. */
  readonly #byLock = new Map<string, WeakRef<LocalHandoff>>();
  #sweepAt = SWEEP_FROM;

  /** At most `limit` consecutive hand-offs while another process waits. */
  constructor(wakeUps: WakeUpChannel, freeMoments: FreeMoments, limit: number) {
    this.#wakeUps = wakeUps;
    this.#freeMoments = freeMoments;
    this.#limit = limit;
  }

  /**
   * Resolves once the server can tell that another process waits, or after a part of the `ttl`, which goes on meanwhile. Never
   * rejects: until then, another process counts as waiting.
   */
  async listen(ttl: number): Promise<void> {
    if (!this.#wakeUps.isLive) await waitAtMost(systemClock, ttl / LISTENED, this.#wakeUps.open());
  }

  /** The lock has been ours since `since`. */
  begin(lock: string, since: number): LocalHandoff {
    if (this.#byLock.size >= this.#sweepAt) this.#sweep();
    const handoff = new LocalHandoff(this.#freeMoments.shares.dueAt(lock, since));
    this.#byLock.set(lock, new WeakRef(handoff));
    return handoff;
  }

  /** Returns whether the lock is to be left free for a moment. */
  end(lock: string, { freeAt }: LocalHandoff): boolean {
    this.#byLock.delete(lock);
    return this.#freeMoments.shares.end(lock, freeAt);
  }

  /** `false`: every grant comes from the server. */
  get allowsHandoffs(): boolean {
    return this.#limit > 0;
  }

  /** Counts a hand-off. `false`: other processes are first. */
  mayHandOff(handoff: LocalHandoff): boolean {
    if (!this.#wakeUps.isLive) handoff.contend(); // messages may be missed, so another process counts as waiting
    return handoff.mayHandOff(this.#limit);
  }

  /** Of the present holder, where it has the key from another one of this process. */
  tokenOf(lock: string): bigint {
    return this.#byLock.get(lock)?.deref()?.token ?? 0n;
  }

  /** Another process waits in the line of `lock`. */
  contended(lock: string): void {
    this.#byLock.get(lock)?.deref()?.contend();
  }

  /** After messages that may have been missed, from a server that may have lost its data. */
  doubtAll(): void {
    for (const handoff of this.#byLock.values()) handoff.deref()?.doubt();
  }

  #sweep(): void {
    for (const [lock, handoff] of this.#byLock) if (!handoff.deref()) this.#byLock.delete(lock);
    this.#sweepAt = Math.max(SWEEP_FROM, 2 * this.#byLock.size);
  }
}
