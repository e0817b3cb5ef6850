import { settled, systemClock } from '../../core/clock.js';
import { Tenure } from './tenure.js';
import type { WakeUps } from './wake-ups.js';

/** The part of a ttl for which the first subscription is waited for. */
const LISTENED = 10;
/** Below this many, nothing needs to be swept. */
const SWEEP_FROM = 1_000;

/** The locks of one store that are passed on inside its process. */
export class Tenures {
  readonly #wakeUps: WakeUps;
  readonly #limit: number;
  /** Weak: a lock that was lost ends without a word to the store. */
  readonly #byLock = new Map<string, WeakRef<Tenure>>();
  #sweepAt = SWEEP_FROM;

  /** At most `limit` passes in a row while another process waits. */
  constructor(wakeUps: WakeUps, limit: number) {
    this.#wakeUps = wakeUps;
    this.#limit = limit;
  }

  /**
   * Resolves once the server can tell that another process waits, or when that takes a part of the `ttl` that goes on meanwhile.
   * Never rejects: until then, one is taken to wait.
   */
  async listen(ttl: number): Promise<void> {
    if (!this.#wakeUps.isLive) await settled(systemClock, this.#wakeUps.open(), ttl / LISTENED);
  }

  begin(lock: string): Tenure {
    if (this.#byLock.size >= this.#sweepAt) this.#sweep();
    const tenure = new Tenure();
    this.#byLock.set(lock, new WeakRef(tenure));
    return tenure;
  }

  end(lock: string): void {
    this.#byLock.delete(lock);
  }

  /** `false`: every grant comes from the server. */
  get allowsPasses(): boolean {
    return this.#limit > 0;
  }

  /** Counts a pass. `false`: other processes are first. */
  mayPass(tenure: Tenure): boolean {
    if (!this.#wakeUps.isLive) tenure.contend(); // as far as anybody knows
    return tenure.mayPass(this.#limit);
  }

  /** Another process stands in line for `lock`. */
  contended(lock: string): void {
    this.#byLock.get(lock)?.deref()?.contend();
  }

  /** For messages that may have been missed, by a server that may have lost its data. */
  doubtAll(): void {
    for (const tenure of this.#byLock.values()) tenure.deref()?.doubt();
  }

  #sweep(): void {
    for (const [lock, tenure] of this.#byLock) if (!tenure.deref()) this.#byLock.delete(lock);
    this.#sweepAt = Math.max(SWEEP_FROM, 2 * this.#byLock.size);
  }
}
