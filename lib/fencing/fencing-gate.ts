import { show } from '../core/option-values.js';
import { checkHolder } from './fenced-holder.js';
import type { FencedHolder } from './fenced-holder.js';
import { LockStaleError } from './fencing-errors.js';

/** Remembers the largest token of each key. `FencingGate` does for one process, `RedisFencingGate` for several. */
export interface TokenGate {
  /** Throws or rejects with `LockStaleError` when a larger token of the key was here; an equal one may come again. */
  enter(holder: FencedHolder): void | Promise<void>;
}

export interface FencingGateOptions {
  /**
   * Keys that are remembered. Beyond it, the key that was not seen for the longest time is forgotten, and lets any token in
   * again: choose more than are written to during the longest pause of a holder that is to be survived.
   * @default Infinity
   */
  readonly maxKeys?: number | undefined;
}

/**
 * The largest token seen for each key, in this process and until it ends: for a resource that one process owns, such as a
 * file or a device.
 */
export class FencingGate implements TokenGate {
  readonly #maxKeys: number;
  /** The key that was not seen for the longest time comes first. */
  readonly #newest = new Map<string, bigint>();
  /** For each key in whose line somebody writes or waits, the end of the line. */
  readonly #lines = new Map<string, Promise<unknown>>();

  /** Throws `RangeError` for a bad `maxKeys`. */
  constructor({ maxKeys = Infinity }: FencingGateOptions = {}) {
    if (maxKeys !== Infinity && (!Number.isSafeInteger(maxKeys) || maxKeys < 1)) {
      throw new RangeError(
        `maxKeys must be a whole number of at least 1, or Infinity, got ${show(maxKeys)}`,
      );
    }
    this.#maxKeys = maxKeys;
  }

  /**
   * Throws `LockStaleError` when a larger token of the key was here. What follows is guarded up to its first `await`: for
   * a write that takes longer, there is `run`.
   */
  enter(holder: FencedHolder): void {
    const { key, fencingToken } = checkHolder(holder);
    const newest = this.#newest.get(key);
    if (newest !== undefined && newest > fencingToken) {
      throw new LockStaleError(key, fencingToken, newest);
    }
    this.#newest.delete(key);
    this.#newest.set(key, fencingToken);
    if (this.#newest.size > this.#maxKeys) this.#forgetOne();
  }

  /**
   * Runs `write` when those before it in the line of its key are done, so that a slow one never lands after a newer one.
   * Rejects with `LockStaleError`, without a call, when a larger token was here by then; with the error of `write` else.
   */
  async run<T>(holder: FencedHolder, write: () => T | Promise<T>): Promise<T> {
    const { key, fencingToken } = checkHolder(holder);
    this.enter({ key, fencingToken });
    const turn = (this.#lines.get(key) ?? Promise.resolve()).then(() => {
      this.enter({ key, fencingToken });
      return write();
    });
    const end = turn.catch(() => {}); // its caller gets it; the next one in line has no part in it
    this.#lines.set(key, end);
    try {
      return await turn;
    } finally {
      if (this.#lines.get(key) === end) this.#lines.delete(key);
    }
  }

  /** The largest token seen. `undefined` for a key that was never seen, or was forgotten. */
  newest(key: string): bigint | undefined {
    return this.#newest.get(key);
  }

  /** Keys that are remembered. */
  get size(): number {
    return this.#newest.size;
  }

  /** Not one in whose line somebody still waits for a check. */
  #forgetOne(): void {
    for (const key of this.#newest.keys()) {
      if (this.#lines.has(key)) continue;
      this.#newest.delete(key);
      return;
    }
  }
}
