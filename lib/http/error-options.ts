import { aBag, aBoolean, aWhole } from '../core/options/option-rules.js';
import type { OptionRules } from '../core/options/option-rules.js';

/** How lock errors look over HTTP. */
export interface LockErrorOptions {
  /**
   * Status for a key that stayed held, from 400 to 599.
   * @default 409
   */
  readonly busyStatus?: number | undefined;
  /**
   * Seconds in the `Retry-After` header of busy and store-down answers, from 0. It is up to twice as much, by chance.
   * @default 1
   */
  readonly retryAfter?: number | undefined;
  /**
   * `true`: bodies have the `key` of the lock beside `code` and `message`, but those of 500. Keys may hold names and addresses.
   * @default false
   */
  readonly exposeKey?: boolean | undefined;
}

export const ERROR_RULES: OptionRules<LockErrorOptions> = {
  busyStatus: aWhole('', { from: 400, to: 599 }),
  retryAfter: aWhole('seconds', { from: 0 }),
  exposeKey: aBoolean,
};

const aBagOfRules = aBag(ERROR_RULES, '{ busyStatus: 423 }');

/** For the option `http` of a module. */
export function falseOrErrorOptions(name: string, value: unknown): void {
  if (value !== false) aBagOfRules(name, value);
}
