import type { LockOptions } from '../options/lock-options.js';
import { checkWork } from '../options/option-values.js';
import type { Lock } from './lock.js';

/** The work under a lock. */
export type LockWork<T> = (lock: Lock) => T | Promise<T>;

/** The arguments of a call behind its key. */
export type WorkArguments<T> = [work: LockWork<T>] | [options: LockOptions, work: LockWork<T>];

/** The outcome of a call of `tryWithLock`: the work ran, or it did not because the key was held. */
export type LockAttempt<T> =
  | { readonly acquired: true; readonly result: T }
  | { readonly acquired: false; readonly result?: undefined };

/** Throws `TypeError` for work that is no function. */
export function optionsAndWork<T>(
  method: string,
  rest: WorkArguments<T>,
): readonly [LockOptions | undefined, LockWork<T>] {
  const [options, work] = rest.length === 1 ? [undefined, rest[0]] : rest;
  checkWork(method, work);
  return [options, work];
}
