import { DEFAULT_LOCK_OPTIONS, resolveLockOptions } from './lock-options.js';
import type { LockDefaults, LockOptions, ResolvedLockOptions } from './lock-options.js';

/** The options of one service: its defaults, and those of each call on top. */
export class OptionLayers {
  readonly defaults: ResolvedLockOptions;
  /** Of options that cannot change any more, such as those of a decorator. */
  readonly #resolved = new WeakMap<LockOptions, ResolvedLockOptions>();

  constructor(defaults: LockDefaults) {
    const own = (['mode', 'permits'] as const).find((name) => name in defaults);
    if (own) throw new TypeError(`${own} belongs to a call or a decorator, not to the defaults`);
    this.defaults = resolveLockOptions(DEFAULT_LOCK_OPTIONS, defaults);
  }

  /** Throws `TypeError` or `RangeError` naming the option. */
  with(options: LockOptions | undefined): ResolvedLockOptions {
    if (!options) return this.defaults;
    const known = this.#resolved.get(options);
    if (known) return known;
    const resolved = resolveLockOptions(this.defaults, options);
    if (Object.isFrozen(options)) this.#resolved.set(options, resolved);
    return resolved;
  }
}
