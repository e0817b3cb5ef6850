import { makeRoom } from '../core/async/emitter-room.js';
import { inRootContext } from '../core/async/root-context.js';
import { systemClock } from '../core/async/clock.js';
import { sleep, waitAtMost } from '../core/async/sleep.js';
import type { Clock } from '../core/async/clock.js';
import { LeaderEvents } from './leader-events.js';
import { checkLeaderOptions, LEADER_RULES } from './leader-options.js';
import type { LeaderElectionOptions } from './leader-options.js';
import { LeaderTerm } from './leader-term.js';
import { watchStore } from './store-watch.js';
import type { LockAuditEvent } from '../core/events/attempt-events.js';
import type { LockJeopardyEvent } from '../core/events/hold-events.js';
import { named } from '../core/options/lock-name.js';
import type { LockOptions } from '../core/options/lock-options.js';
import type { LockInspection } from '../core/contract/lock-store.js';
import type { LockService } from '../core/lock.service.js';
import type { Lock } from '../core/scope/lock.js';

/**
 * Lets one process of many lead, for as long as it holds the lock `leader:<name>`; the others wait for it.
 *
 * ```ts
 * const election = new LeaderElection(locks, 'scheduler', { ttl: 10_000, onElected: (term) => schedule(term.signal) });
 * election.start();
 * ```
 *
 * Stop it before `locks.close()`.
 */
export class LeaderElection {
  readonly events = new LeaderEvents();
  readonly #locks: LockService;
  readonly #key: string;
  readonly #options: LeaderElectionOptions;
  readonly #clock: Clock;
  readonly #stop = new AbortController();
  #isStarted = false;
  #term: LeaderTerm | undefined;
  /** The candidacy under way, the term that it leads to included. Never rejects. */
  #candidacy: Promise<void> = Promise.resolve();
  /** The last run of `onElected`: the next one waits for it. Never rejects. */
  #work: Promise<void> = Promise.resolve();

  /** Throws `TypeError` or `RangeError` naming the option. */
  constructor(locks: LockService, name: string, options: LeaderElectionOptions = {}) {
    checkLeaderOptions(name, options, 'LeaderElection', LEADER_RULES);
    this.#locks = locks;
    this.#key = `leader:${name}`;
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
  }

  /** Stands for election, again and again until `stop`, in the root context. Safe to call twice. Throws when it was stopped. */
  start(): void {
    if (this.#stop.signal.aborted) throw new Error(`The election of "${this.#key}" was stopped`);
    if (!this.#isStarted) void inRootContext(() => this.#campaign());
    this.#isStarted = true;
  }

  /** Measured, not remembered: right also after the event loop was blocked. */
  get isLeader(): boolean {
    return this.#term?.isLeader ?? false;
  }

  /** The term of this process, while it leads. */
  get term(): LeaderTerm | undefined {
    return this.isLeader ? this.#term : undefined;
  }

  /** The leader: `holder` is `host:pid:startTime`. Resolves `undefined` while there is no leader. Rejects with `LockStoreError`. */
  leader(): Promise<LockInspection | undefined> {
    return this.#locks.inspect(this.#key);
  }

  /**
   * Ends the term of this process, if it has one, and stands again after a pause: the next candidate is elected. Resolves when
   * the lock was given back, which waits for `onElected`: in there, call `term.resign()`. Never rejects.
   */
  async resign(): Promise<void> {
    if (!this.#term) return;
    this.#term.resign();
    await this.#candidacy;
  }

  /** Resigns, and stands no more. Never rejects. */
  async stop(): Promise<void> {
    this.#stop.abort();
    this.#term?.resign();
    await this.#candidacy;
  }

  async #campaign(): Promise<void> {
    const { pause = 1_000 } = this.#options;
    const { signal } = this.#stop;
    while (!signal.aborted) {
      this.#candidacy = this.#stand(signal);
      await this.#candidacy;
      await this.#work;
      await sleep(this.#clock, pause * (1 + Math.random() / 2), signal, true);
    }
  }

  async #stand(signal: AbortSignal): Promise<void> {
    try {
      const lock = await this.#acquire(signal);
      if (signal.aborted) await lock.release();
      else await this.#lead(new LeaderTerm(lock), lock);
    } catch (error) {
      if (!signal.aborted) this.events.publish('failed', error);
    } finally {
      if (this.#locks.isClosed || this.#locks.isDraining) this.#stop.abort(); // there will be no other lock
    }
  }

  /** A candidate hears of a store that is away. */
  async #acquire(signal: AbortSignal): Promise<Lock> {
    const end = new AbortController();
    const failed = (error: unknown) => this.events.publish('failed', error);
    void watchStore(this.#clock, () => this.leader(), failed, end.signal);
    try {
      return await this.#locks.acquire(this.#key, { ...this.#lockOptions, signal });
    } finally {
      end.abort();
    }
  }

  async #lead(term: LeaderTerm, lock: Lock): Promise<void> {
    const tell = ({ key, error, remaining }: LockJeopardyEvent) => {
      if (key === term.key) this.events.publish('jeopardy', term, { error, remaining });
    };
    this.#term = term;
    makeRoom(this.#locks.events, 1);
    const drained = ({ action }: LockAuditEvent) => void (action === 'drain' && term.resign());
    this.#locks.events.on('jeopardy', tell);
    this.#locks.events.on('audit', drained);
    this.events.publish('elected', term);
    this.#work = this.#run(term);
    const end = await term.over;
    if (lock.isHeld) await this.#grace();
    await lock.release();
    this.#locks.events.off('jeopardy', tell);
    this.#locks.events.off('audit', drained);
    makeRoom(this.#locks.events, -1);
    this.#term = undefined;
    if (end.reason === 'released') this.events.publish('resigned', term);
    else this.events.publish('lost', term, end);
  }

  async #run(term: LeaderTerm): Promise<void> {
    try {
      await inRootContext(() => this.#options.onElected?.(term));
    } catch (error) {
      const { aborted, reason } = term.signal;
      if (aborted && (error === reason || (error as Error | null)?.cause === reason)) return; // it minds the signal
      this.events.publish('failed', error);
      term.resign();
    }
  }

  /** Lets `onElected` end before another process can lead. */
  async #grace(): Promise<void> {
    const { gracePeriod = 5_000 } = this.#options;
    await waitAtMost(this.#clock, gracePeriod, this.#work, true);
  }

  get #lockOptions(): LockOptions {
    const { ttl, storeTimeout, retryDelay, retryJitter } = this.#options;
    const untilGranted = { waitTimeout: Infinity, retryCount: Infinity, maxWaiting: Infinity };
    const untilReleased = { autoExtend: true, maxHold: Infinity, minHold: 0, reentrant: false };
    const rest = { ttl, storeTimeout, retryDelay, retryJitter };
    return named({ ...untilGranted, ...untilReleased, ...rest }, this.#key);
  }
}
