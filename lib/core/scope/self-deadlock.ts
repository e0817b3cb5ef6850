import { eitherOf } from '../async/abort-signals.js';
import { warn } from '../async/warn.js';
import { LockDeadlockError, LockTimeoutError } from '../contract/lock-errors.js';
import type { LockError } from '../contract/lock-errors.js';
import { keyNames } from '../keys/lock-keys.js';
import type { Explain } from '../acquire/attempt-errors.js';
import type { ResolvedLockOptions } from '../options/lock-options.js';
import type { Lock } from './lock.js';
import { quoted } from '../text/printable.js';
import type { TimerQueue } from '../async/timer-queue.js';
import { isShared } from '../sharing/hold-mode.js';

/**
 * Milliseconds that a call waits for a key that its own async context holds. Long enough for the job of a shared queue, which
 * runs in the context of another job: most locks are held for less. Short enough that a developer with two nested calls by
 * mistake sees an error, and not a slow request that fails at the end of its `waitTimeout`.
 */
const LONGEST_SELF_WAIT = 1_000;
/** Maximum number of key names remembered as logged; a program with more of them has seen the message. */
const MOST_NAMES = 1_000;

/** A call for keys of which its context holds some. */
interface ConflictingCall {
  readonly keys: readonly string[];
  readonly options: ResolvedLockOptions;
  /** The lock by which the context holds one of the keys. Missing once it does not. */
  readonly own: () => Lock | undefined;
}

/**
 * Bounds the wait for a key that the calling async context holds. Such a call may be nested and wait for itself, or may have
 * inherited the context of another call: a job of a shared queue, a listener. The two look the same.
 */
export class SelfDeadlocks {
  readonly #timers: TimerQueue;
  readonly #loggedNames = new Set<string>();

  constructor(timers: TimerQueue) {
    this.#timers = timers;
  }

  /** Calls `wait` with options that end it in time. `wait` calls `granted` as soon as it has the keys, and `explain` for a timeout. */
  async bound<T>(
    call: ConflictingCall,
    wait: (options: ResolvedLockOptions, granted: () => void, explain: Explain) => Promise<T>,
  ): Promise<T> {
    const { options, own } = call;
    const stopper = eitherOf(options.signal);
    const cancel = this.#timers.later(LONGEST_SELF_WAIT, () => {
      if (own()) stopper.abort(refusalOf(call));
    });
    let isWaiting = true;
    const end = () => {
      isWaiting = false;
      cancel();
      stopper.forget();
    };
    this.#log(call);
    const explain = () => (isWaiting && own() ? refusalOf(call) : undefined);
    try {
      return await wait({ ...options, signal: stopper.signal }, end, explain);
    } finally {
      end();
    }
  }

  /**
   * The first time for each key name. One attempt does not wait; a reader beside a reader, or a permit beside a permit, need
   * not.
   */
  #log({ keys, options, own }: ConflictingCall): void {
    const held = own()!;
    const longest = longestWait(options);
    if (longest === 0 || (isShared(options.permits) && options.permits === held.permits)) return;
    const name = nameOf(keys[0]!);
    if (this.#loggedNames.has(name) || this.#loggedNames.size >= MOST_NAMES) return;
    this.#loggedNames.add(name);
    const fate = `waits for at most ${longest} ms: ${cause(held)}. ${REMEDIES}`;
    warn(`A call for lock ${quoted(keyNames(keys))} ${fate}`, 'HOLDFAST_SELF_DEADLOCK');
  }
}

const REMEDIES =
  'If the call is nested in that lock, share the lock: reentrant: true. If the context is that of another (a job of a shared queue, ' +
  'a listener), give the call a context of its own: AsyncResource.bind or locks.outside(work)';

/** A single attempt has not waited for itself. */
function refusalOf({ keys, options, own }: ConflictingCall): LockError {
  const names = keyNames(keys);
  const longest = longestWait(options);
  const why = `${cause(own()!)}. ${REMEDIES}`;
  if (longest === 0) return new LockTimeoutError(names, options.waitTimeout, { why });
  const message = `Lock ${quoted(names)} was not acquired within ${longest} ms: ${why}`;
  return new LockDeadlockError(message, names);
}

function cause({ keys }: Lock): string {
  return `the calling async context holds ${quoted(keyNames(keys))}`;
}

/** `0`: one attempt, which does not wait. */
function longestWait({ waitTimeout }: ResolvedLockOptions): number {
  return Math.min(waitTimeout, LONGEST_SELF_WAIT);
}

/** The part of a key that names a kind of thing: `order` of `order:42`. */
function nameOf(key: string): string {
  return key.split(':', 1)[0]!;
}
