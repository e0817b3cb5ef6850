import { DEFAULT_LOCK_OPTIONS, LOCK_OPTIONS, resolveLockOptions } from './lock-options.js';
import type { LockDefaults, LockOptions, ResolvedLockOptions } from './lock-options.js';
import { checkOptionNames } from './option-names.js';

const PER_CALL = ['mode', 'permits'];
/** Names of the options that suit every lock of a service. */
const DEFAULTS = LOCK_OPTIONS.filter((name) => !PER_CALL.includes(name));

/** Clients choose how slowly they send and read, and whether they do at all. */
const REQUEST_MAX_HOLD = 300_000;

/** Throws `TypeError` for options that are neither defaults nor the `others` of whoever was given them. */
export function checkDefaults(label: string, options: object, others: readonly string[]): void {
  const own = PER_CALL.find((name) => name in options);
  if (own) {
    throw new TypeError(`${label}: ${own} belongs to a call or a decorator, not to the defaults`);
  }
  checkOptionNames(options, [...others, ...DEFAULTS], label);
}

/** The options of one service: its defaults, and those of each call on top. */
export class OptionLayers {
  readonly defaults: ResolvedLockOptions;
  readonly #saysMaxHold: boolean;
  /** Of options that cannot change any more, such as those of a decorator. */
  readonly #resolved = new WeakMap<LockOptions, ResolvedLockOptions>();

  constructor(defaults: LockDefaults) {
    this.defaults = resolveLockOptions(DEFAULT_LOCK_OPTIONS, defaults);
    this.#saysMaxHold = defaults.maxHold !== undefined;
  }

  /** Throws `TypeError` or `RangeError` naming the option. */
  with(options: LockOptions | undefined): ResolvedLockOptions {
    if (options === undefined) return this.defaults;
    const known = this.#resolved.get(options);
    if (known) return known;
    const resolved = resolveLockOptions(this.defaults, options);
    if (Object.isFrozen(options)) this.#resolved.set(options, resolved);
    return resolved;
  }

  /** As `with`, for a request: its lock ends, where neither the defaults nor the options say when. */
  forRequest(options: LockOptions | undefined): ResolvedLockOptions {
    const resolved = this.with(options);
    if (this.#saysMaxHold || options?.maxHold !== undefined) return resolved;
    return Object.freeze({ ...resolved, maxHold: Math.max(REQUEST_MAX_HOLD, resolved.minHold) });
  }
}
