import { DEFAULT_LOCK_OPTIONS, resolveLockOptions } from './lock-options.js';
import type { LockDefaults, LockOptions, ResolvedLockOptions } from './lock-options.js';
import { LOCK_RULES } from './lock-rules.js';
import { optionError } from './option-error.js';
import { checkOptions } from './option-rules.js';
import type { OptionRules } from './option-rules.js';

const { mode: _, permits: __, name: ___, ...ofEveryLock } = LOCK_RULES;

/** Clients choose how slowly they send and read, and whether they do at all. */
const REQUEST_MAX_HOLD = 300_000;

/** The options that suit every lock of a service. */
export const DEFAULT_RULES: OptionRules<LockDefaults> = ofEveryLock;

/** Throws `TypeError` or `RangeError` for bad options of an owner whose options include defaults of locks. */
export function checkDefaults<Options extends LockDefaults>(
  owner: string,
  options: Options,
  rules: OptionRules<Options>,
): void {
  const ofACall = ['mode', 'permits', 'name'].find((name) => name in options);
  if (ofACall) {
    throw optionError(`${owner}: ${ofACall} belongs to a call or a decorator, not to the defaults`);
  }
  checkOptions(owner, options, rules, '{ ttl: 10_000 }');
}

/** The options of one service: its defaults, and those of each call on top. */
export class OptionLayers {
  readonly defaults: ResolvedLockOptions;
  /** Of a call without options of its own. */
  readonly #ofCall: ResolvedLockOptions;
  readonly #saysMaxHold: boolean;
  /** Of immutable options, such as those of a decorator. */
  readonly #resolved = new WeakMap<LockOptions, ResolvedLockOptions>();
  readonly #recent = new RecentOptions();

  constructor(defaults: LockDefaults) {
    this.defaults = resolveLockOptions(DEFAULT_LOCK_OPTIONS, defaults);
    this.#ofCall = withRetries(this.defaults);
    this.#saysMaxHold = defaults.maxHold !== undefined;
  }

  /** Throws `TypeError` or `RangeError` naming the option. */
  with(options: LockOptions | undefined): ResolvedLockOptions {
    if (options === undefined) return this.#ofCall;
    const known = this.#resolved.get(options) ?? this.#recent.find(options);
    if (known) return known;
    let resolved = resolveLockOptions(this.defaults, options);
    if (resolved.retryCount < Infinity) resolved = withRetries(resolved);
    if (Object.isFrozen(options) && cannotChange(options)) this.#resolved.set(options, resolved);
    else this.#recent.add(options, resolved);
    return resolved;
  }

  /** As `with`, for a request: its lock has an end, where neither the defaults nor the options set one. */
  forRequest(options: LockOptions | undefined): ResolvedLockOptions {
    const resolved = this.with(options);
    if (this.#saysMaxHold || options?.maxHold !== undefined) return resolved;
    return Object.freeze({ ...resolved, maxHold: Math.max(REQUEST_MAX_HOLD, resolved.minHold) });
  }
}

/** `retryCount` ends every wait, in a queue as between attempts: when the last of them would have been made. */
function withRetries(options: ResolvedLockOptions): ResolvedLockOptions {
  const { retryCount, retryDelay, retryJitter, waitTimeout } = options;
  if (retryCount === Infinity) return options;
  const longest = retryCount * Math.max(retryDelay + retryJitter, 1);
  return longest < waitTimeout ? Object.freeze({ ...options, waitTimeout: longest }) : options;
}

/** Of frozen options. A getter may return another value the next time. */
function cannotChange(options: LockOptions): boolean {
  return Object.getPrototypeOf(options) === Object.prototype && hasValues(options);
}

/** Its fields are values, and none is a getter. */
function hasValues(options: LockOptions): boolean {
  const fields = Object.values(Object.getOwnPropertyDescriptors(options));
  return fields.every((field) => 'value' in field);
}

/** Places in an application whose calls differ in their options, and come in turn. */
const MOST = 8;

interface Recent {
  readonly names: readonly string[];
  readonly values: readonly unknown[];
  readonly resolved: ResolvedLockOptions;
}

/**
 * The options that calls gave last. A call mostly says what one before it said, in an object of its own: to check and resolve that anew
 * takes a cold processor 20 µs (`bench/own-code.mjs`).
 */
class RecentOptions {
  readonly #recent: Recent[] = [];
  #next = 0;

  /** What options with the same fields and values were resolved to. */
  find(options: LockOptions): ResolvedLockOptions | undefined {
    if (this.#recent.length === 0 || !isPlain(options)) return undefined;
    const names = Reflect.ownKeys(options) as (keyof LockOptions)[];
    search: for (const one of this.#recent) {
      if (one.names.length !== names.length) continue;
      for (let at = 0; at < names.length; at++) {
        const name = names[at]!;
        if (name !== one.names[at] || options[name] !== one.values[at]) continue search;
      }
      return one.resolved;
    }
    return undefined;
  }

  /** For options that were resolved. Their signal would be kept alive. */
  add(options: LockOptions, resolved: ResolvedLockOptions): void {
    if (resolved.signal || !isPlain(options) || !hasValues(options)) return;
    const names = Object.keys(options) as (keyof LockOptions)[];
    if (names.length < Reflect.ownKeys(options).length) return;
    const values = names.map((name) => options[name]);
    this.#recent[this.#next] = { names, values, resolved };
    this.#next = (this.#next + 1) % MOST;
  }
}

/** Nothing of a class: what it inherits may change. Nor a proxy that was revoked. */
function isPlain(options: unknown): boolean {
  try {
    return Object.getPrototypeOf(options) === Object.prototype;
  } catch {
    return false;
  }
}
