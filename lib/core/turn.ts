import type { Passed } from './grant.js';
import type { InLine, LocalQueue } from './local-queue.js';
import type { AcquireRequest } from './lock-store.js';
import type { QueuedTimer, TimerQueue } from './timer-queue.js';

/** What ends the wait for a turn. */
export interface TurnLimits {
  readonly timers: TimerQueue;
  readonly deadline: number;
  /** What to reject with at the deadline. */
  readonly late: () => unknown;
  readonly signal: AbortSignal | undefined;
}

/**
 * One caller's way to the front of its keys, and its stay there. Several keys are lined up for one after the other in
 * canonical order, so that two callers never wait for each other.
 */
export class Turn implements InLine<Turn> {
  before: Turn | undefined;
  behind: Turn | undefined;
  readonly request: AcquireRequest;
  readonly #queue: LocalQueue<Turn>;
  /** At the front of so many keys. */
  #fronts = 0;
  #wait: TurnWait | undefined;

  constructor(queue: LocalQueue<Turn>, request: AcquireRequest) {
    this.#queue = queue;
    this.request = request;
  }

  get isFront(): boolean {
    return this.#fronts === this.request.keys.length;
  }

  /** Goes to the front at once, if nobody is there. */
  take(): boolean {
    if (!this.#queue.enter(this.request.keys)) return false;
    this.#fronts = this.request.keys.length;
    return true;
  }

  /** Resolves at the front of all keys, with the lease if the holder before passed it on. Rejects as `limits` say. */
  wait(limits: TurnLimits): Promise<Passed | undefined> {
    return new Promise((resolve, reject) => {
      this.#wait = new TurnWait(limits, resolve, (reason) => {
        this.#wait = undefined;
        this.#queue.quit(this.#awaited, this);
        reject(reason);
      });
      this.#lineUp();
    });
  }

  /** Ends the wait, if there is one. */
  stop(reason: unknown): boolean {
    if (!this.#wait) return false;
    this.#wait.fail(reason);
    return true;
  }

  /** The one before has left the front, and perhaps passes its lease on. */
  arrive(passed?: Passed): void {
    this.#fronts++;
    if (passed) this.#come(passed);
    else this.#lineUp();
  }

  /** The one to whom a lease of these keys could be passed on. A lease of several keys goes back to the store. */
  get next(): Turn | undefined {
    const { keys, key } = this.request;
    const next = keys.length === 1 ? this.#queue.next(key) : undefined;
    return next?.request.keys.length === 1 ? next : undefined;
  }

  /** Lets `next` have the front, and the lease. */
  pass(next: Turn, passed: Passed): void {
    this.#fronts = 0;
    this.#queue.quit(this.request.key, next);
    next.arrive(passed);
  }

  /** Makes room at the fronts. Safe to call twice. `failure` is what the store did to this one. */
  leave(failure?: unknown): void {
    const fronts = this.#fronts;
    this.#fronts = 0;
    for (let index = 0; index < fronts; index++) {
      this.#queue.leave(this.request.keys[index]!, failure);
    }
  }

  /** The store has answered. */
  answered(): void {
    for (const key of this.request.keys) this.#queue.clear(key);
  }

  /** What the store did to the last one who asked for the key that is waited for. */
  get failure(): unknown {
    return this.#queue.failureOf(this.#awaited);
  }

  get #awaited(): string {
    return this.request.keys[this.#fronts]!;
  }

  #lineUp(): void {
    for (; !this.isFront; this.#fronts++) if (this.#queue.join(this.#awaited, this)) return;
    this.#come(undefined);
  }

  #come(passed: Passed | undefined): void {
    const wait = this.#wait!;
    this.#wait = undefined;
    wait.succeed(passed);
  }
}

/** A promise that a deadline or a signal may reject. */
class TurnWait {
  readonly #limits: TurnLimits;
  readonly #timer: QueuedTimer;
  readonly #resolve: (passed: Passed | undefined) => void;
  readonly #reject: (reason: unknown) => void;

  constructor(
    limits: TurnLimits,
    resolve: (passed: Passed | undefined) => void,
    reject: (reason: unknown) => void,
  ) {
    this.#limits = limits;
    this.#resolve = resolve;
    this.#reject = reject;
    this.#timer = limits.timers.add(limits.deadline, () => this.fail(limits.late()));
    limits.signal?.addEventListener('abort', this, { once: true });
  }

  succeed(passed: Passed | undefined): void {
    this.#end();
    this.#resolve(passed);
  }

  fail(reason: unknown): void {
    this.#end();
    this.#reject(reason);
  }

  handleEvent(): void {
    this.fail(this.#limits.signal!.reason);
  }

  #end(): void {
    this.#limits.timers.remove(this.#timer);
    this.#limits.signal?.removeEventListener('abort', this);
  }
}
