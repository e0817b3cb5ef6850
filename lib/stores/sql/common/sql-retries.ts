import { withoutSecrets } from '../../../core/contract/safe-error.js';
import { systemClock } from '../../../core/async/clock.js';
import { sleep } from '../../../core/async/sleep.js';
import { explained, failureKind } from './sql-failures.js';
import type { FailureKind } from './sql-failures.js';

/** Milliseconds for which a statement is repeated. Core ends its wait for the answer after its own `storeTimeout`. */
const RETRY_FOR: Partial<Record<FailureKind, number>> = { conflict: 5_000, connection: 2_000 };
/** Milliseconds of the longest pause before the first repetition; it doubles. */
const FIRST_PAUSE: Partial<Record<FailureKind, number>> = { conflict: 5, connection: 20 };
const LONGEST_PAUSE = 100;

/** The failure on which `retried` gave up. */
export interface Retried<T> {
  readonly value: T;
  /** A connection was lost before: an earlier statement may have been applied. */
  readonly isRepeated: boolean;
}

/**
 * Sends a statement until it is answered, or fails for good. Only for statements that may be applied twice: each compares a
 * token. Rejects with the last error, explained. The pauses are random, so that two in conflict do not meet again.
 */
export async function retried<T>(send: () => Promise<T>): Promise<Retried<T>> {
  const startedAt = systemClock.now();
  let isRepeated = false;
  for (let attempt = 0; ; attempt++) {
    try {
      return { value: await send(), isRepeated };
    } catch (error) {
      const kind = failureKind(error);
      const retryFor = RETRY_FOR[kind];
      if (retryFor === undefined || systemClock.now() - startedAt > retryFor)
        throw explained(withoutSecrets(error));
      isRepeated ||= kind === 'connection';
      const longest = Math.min(FIRST_PAUSE[kind]! * 2 ** attempt, LONGEST_PAUSE);
      await sleep(systemClock, Math.random() * longest);
    }
  }
}
