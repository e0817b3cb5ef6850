import { offAbort, onAbort } from '../../../core/async/abort-listeners.js';
import { inRootContext } from '../../../core/async/root-context.js';
import { systemClock } from '../../../core/async/clock.js';
import type { NamedLock } from '../keys/named-lock.js';
import { HAND_ON, LEAVE_FREE } from '../lua/lease-scripts.js';
import { isOne } from '../lua/replies.js';
import type { ScriptRunner } from '../send/script-runner.js';
import { Shares } from './shares.js';

/** A lock is left free for this fraction of the time that it is held in between: the maximum cost in throughput. */
const PART = 0.01;

/** A lock that is left free for a moment. */
interface FreeMoment {
  /** Its line has waiters. */
  isAwaited: boolean;
  readonly end: () => void;
  readonly ended: Promise<void>;
}

/**
 * Leaves locks that go from holder to holder without a gap free for a moment now and then: a program that polls with `SET NX`
 * has no place in the line, and its wait is invisible. Waiters in line keep their places meanwhile.
 */
export class FreeMoments {
  readonly shares: Shares;
  /** Read only. */
  areAny = false;
  readonly #runner: ScriptRunner;
  readonly #length: number;
  readonly #byLock = new Map<string, FreeMoment>();

  /** `every`: milliseconds for which a lock may be held without a gap. */
  constructor(runner: ScriptRunner, every: number) {
    this.shares = new Shares(every);
    this.#runner = runner;
    this.#length = every * PART;
  }

  /**
   * Frees the lock, and hands it over only after a moment if it has a waiter: in its line, or next in this process. Resolves
   * `false` when it had been lost.
   */
  release({ keys, value }: NamedLock, hasNext: boolean): Promise<boolean> {
    const [lock, , line] = keys as [string, string, string];
    const moment = this.#begin(lock, line);
    const asked = this.#runner.run(LEAVE_FREE, [lock, line], [value], asFreed);
    asked.then(
      ({ isAwaited }) => {
        moment.isAwaited = isAwaited;
        if (isAwaited || hasNext)
          inRootContext(() => systemClock.schedule(this.#length, moment.end, true));
        else moment.end();
      },
      () => moment.end(),
    );
    return asked.then(({ wasOurs }) => wasOurs);
  }

  /** Whether one attempt at these locks is refused: one of them is reserved for its line until the moment is over. */
  refuse(locks: readonly string[]): boolean {
    return locks.some((lock) => this.#byLock.get(lock)?.isAwaited);
  }

  /** Resolves when the lock is no longer left free, or `signal` aborts. */
  async over(lock: string, signal: AbortSignal): Promise<void> {
    const moment = this.#byLock.get(lock);
    if (!moment || signal.aborted) return;
    await new Promise<void>((resolve) => {
      const listener = { handleEvent: resolve };
      onAbort(signal, listener);
      void moment.ended.then(() => {
        offAbort(signal, listener);
        resolve();
      });
    });
  }

  /** Ends all present ones. */
  close(): void {
    for (const { end } of this.#byLock.values()) end();
  }

  #begin(lock: string, line: string): FreeMoment {
    let resolve!: () => void;
    const ended = new Promise<void>((settle) => (resolve = settle));
    const end = () => {
      if (this.#byLock.get(lock) === moment) this.#byLock.delete(lock);
      this.areAny = this.#byLock.size > 0;
      if (moment.isAwaited) this.#handOn(lock, line);
      moment.isAwaited = false;
      resolve();
    };
    const moment: FreeMoment = { isAwaited: false, end, ended };
    this.#byLock.set(lock, moment);
    this.areAny = true;
    return moment;
  }

  /** Waiters in line find a free lock by themselves, too, if later. */
  #handOn(lock: string, line: string): void {
    this.#runner.run(HAND_ON, [lock, line], [], () => undefined).catch(() => undefined);
  }
}

/** Reads the reply of LEAVE_FREE. */
function asFreed(reply: unknown): { readonly wasOurs: boolean; readonly isAwaited: boolean } {
  if (reply === null) return { wasOurs: false, isAwaited: false };
  return { wasOurs: true, isAwaited: isOne(reply) };
}
