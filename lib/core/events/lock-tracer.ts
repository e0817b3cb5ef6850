import type { LockLostError } from '../contract/lock-errors.js';
import type { AroundWork, LockAcquireTrace, LockHoldTrace } from './tracing.js';

/**
 * Follows the calls and the locks of one service: `LockService.trace`. Its methods run in the async context of the caller. Their
 * errors become a process warning, and change nothing for the lock.
 */
export interface LockTracer {
  /** Asked at each call. While it is `false`, that is all that the tracer costs. */
  readonly isTracing: boolean;
  /** A call for a lock begins. `undefined`: it is not followed. */
  acquire(call: LockAcquireTrace): LockSpan | undefined;
  /**
   * A lock was granted to work: of `withLock`, `withPermit`, `enter`, the decorators or Express. `undefined`: it is not followed.
   */
  hold(lock: LockHoldTrace): LockHoldSpan | undefined;
}

export interface LockSpan {
  /** At the end. `call` has what came of it: `result` or `error`, `waited` and `attempts`. */
  end(call: LockAcquireTrace): void;
}

export interface LockHoldSpan {
  /** As the option `aroundWork`, which it encloses. Must not throw but what `run` throws. */
  readonly around: AroundWork;
  /** An extension failed. It is tried again. */
  jeopardy(error: unknown): void;
  /** At the end. `loss`: the lock was lost. */
  end(loss?: LockLostError): void;
}
