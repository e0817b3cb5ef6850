import type { LockOptions, ResolvedLockOptions } from './lock-options.js';

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
export class RecentOptions {
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
    if (resolved.signal || !isPlain(options)) return;
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
