import { aBag, aClock, aFunction, checkOptions } from '../core/options/option-rules.js';
import type { OptionRules } from '../core/options/option-rules.js';
import { optionError } from '../core/options/option-error.js';
import { show } from '../core/options/option-values.js';
import type { Clock } from '../core/async/clock.js';

/** Nest's `LoggerService`, `console`, pino, or an object of yours. Good news goes to `info`, or to `log` without it. */
export interface LockLogger {
  error(message: string): void;
  warn(message: string): void;
  info?(message: string): void;
  log?(message: string): void;
}

export interface LockLogOptions {
  /**
   * The text that is printed in place of a key, also inside the messages of errors: keys may hold names and addresses. Without
   * it, a key is printed as it is. Where it throws, `***` is printed.
   */
  readonly redactKey?: ((key: string) => string) | undefined;
  /** For tests: a `FakeClock` from `nest-holdfast/testing`. */
  readonly clock?: Clock | undefined;
}

const LOG_RULES: OptionRules<LockLogOptions> = { redactKey: aFunction, clock: aClock };

const aBagOfRules = aBag(LOG_RULES, '{ redactKey: (key) => hash(key) }');

/** For the option `logs` of a module. */
export function falseOrLogOptions(name: string, value: unknown): void {
  if (value !== false) aBagOfRules(name, value);
}

/** Throws `TypeError` naming what is wrong. */
export function checkLogging(logger: unknown, options: LockLogOptions): void {
  const { error, warn } = (logger ?? {}) as Partial<LockLogger>;
  if (typeof error !== 'function' || typeof warn !== 'function')
    throw optionError(`logLocks expects a logger with error and warn, got ${show(logger)}`);
  checkOptions('logLocks', options, LOG_RULES, '{ redactKey: (key) => hash(key) }');
}
