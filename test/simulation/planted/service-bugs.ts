import { systemClock } from '../../../lib/core/async/clock.js';
import { sleep } from '../../../lib/core/async/sleep.js';
import { LockLostError, LockTimeoutError } from '../../../lib/core/contract/lock-errors.js';
import type { LockOptions } from '../../../lib/core/options/lock-options.js';
import type { Lock } from '../../../lib/core/scope/lock.js';
import type { Bug } from '../bug.js';

type AnyLock = (...args: any[]) => Promise<any>;

function withLockOf(change: (withLock: AnyLock) => AnyLock): Bug['service'] {
  return (service) => {
    const withLock = service.withLock.bind(service) as AnyLock;
    return { withLock: change(withLock), close: () => service.close() };
  };
}

/** The work ends well, although its lock was lost. */
export const hidesLosses: Bug = {
  service: withLockOf(
    (withLock) =>
      (...args) =>
        withLock(...args).catch((error: unknown) => {
          if (error instanceof LockLostError) return error.result;
          throw error;
        }),
  ),
};

/** The holder believes in its lock to the end. */
const BLIND = { isHeld: true, signal: new AbortController().signal, fencingToken: 0n };

/** Without an answer of the store, the work runs without a lock. */
export const failsOpen: Bug = {
  service: withLockOf(
    (withLock) => (keys, options, work) =>
      withLock(keys, options, work).catch((error: Error) => {
        if (error.name !== 'LockStoreError') throw error;
        return (work as (lock: unknown) => Promise<unknown>)(BLIND);
      }),
  ),
};

/** Several keys are taken one after the other, in the order of their caller. */
export const takesKeysInAnyOrder: Bug = {
  service: withLockOf((withLock) => (keys, options, work) => {
    if (typeof keys === 'string') return withLock(keys, options, work);
    const [first, second] = keys as string[];
    return withLock(first, options, () => withLock(second, options, work));
  }),
};

/** The value in the template is missing: all locks have one key. */
export const collapsesKeys: Bug = {
  service: withLockOf((withLock) => (_, options, work) => withLock('undefined', options, work)),
};

/** A server that answers nothing is waited for without an end. */
export const waitsForEver: Bug = { options: { storeTimeout: 10_000_000 } };

/** The default wait is a number of attempts. */
export const countsAttempts: Bug = { options: { retryCount: 3 } };

/** Each caller polls by itself, every 10 ms. */
export const letsEveryWaiterPoll: Bug = {
  service: withLockOf((withLock) => async (keys, options, work) => {
    for (;;) {
      try {
        return await withLock(keys, { ...(options as LockOptions), waitTimeout: 0 }, work);
      } catch (error) {
        const { waitTimeout } = options as LockOptions;
        if (!(error instanceof LockTimeoutError) || waitTimeout === 0) throw error;
        await sleep(systemClock, 10);
      }
    }
  }),
};

/** A lock is extended when 80 % of its ttl are over. */
export const extendsLate: Bug = {
  service: withLockOf((withLock) => (keys, options, work) => {
    const { ttl } = options as { ttl: number };
    return withLock(
      keys,
      { ...(options as LockOptions), autoExtend: false },
      async (lock: Lock) => {
        let isOver = false;
        const next = () => systemClock.schedule(ttl * 0.8, () => !isOver && void extend());
        const extend = () => lock.extend(ttl).then(next, () => undefined);
        const stop = next();
        try {
          return await (work as (lock: Lock) => Promise<unknown>)(lock);
        } finally {
          isOver = true;
          stop();
        }
      },
    );
  }),
};
