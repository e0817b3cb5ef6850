import { AsyncLocalStorage } from 'node:async_hooks';
import { LOCK_RULES } from '../../core/options/lock-rules.js';
import { aWhole, checkOptions } from '../../core/options/option-rules.js';
import type { OptionRules } from '../../core/options/option-rules.js';
import { checkHolder } from '../holder/fenced-holder.js';
import type { FencedHolder } from '../holder/fenced-holder.js';
import { FencingTimeoutError, LockStaleError } from '../holder/fencing-errors.js';
import { WriteQueue, ongoing, openWriteOf } from './write-queue.js';
import type { WaitLimits, OpenWrite } from './write-queue.js';

/** Remembers the largest token of each key. `FencingGate` does for one process, `RedisFencingGate` for several. */
export interface TokenGate {
  /** Throws or rejects with `LockStaleError` when a larger token of the key was here; an equal one may come again. */
  enter(holder: FencedHolder): void | Promise<void>;
}

export interface FencingGateOptions {
  /**
   * Keys that are remembered. Beyond it, the key that was not seen for the longest time is forgotten, and lets any token in
   * again: choose more than are written to during the longest pause of a holder that is to be survived. `Infinity`: all, for
   * keys that no stranger chooses.
   * @default 100_000
   */
  readonly maxKeys?: number | undefined;
}

export interface FencingRunOptions {
  /**
   * Milliseconds to wait for the writes before this one. `0`: not at all. `Infinity`: until they have ended.
   * @default 30_000
   */
  readonly waitTimeout?: number | undefined;
  /** Stops the wait with `signal.reason`. It does not stop a write that has begun. */
  readonly signal?: AbortSignal | undefined;
}

const RULES: OptionRules<FencingGateOptions> = {
  maxKeys: aWhole('', { from: 1, to: Infinity, orInfinity: true }),
};
const { waitTimeout: aWait, signal: aSignal } = LOCK_RULES;
const RUN_RULES: OptionRules<FencingRunOptions> = { waitTimeout: aWait, signal: aSignal };
const WAIT_TIMEOUT = 30_000;
const MAX_KEYS = 100_000;

/**
 * The largest token seen for each key, in this process and until it ends: for a resource that one process owns, such as a
 * file or a device.
 */
export class FencingGate implements TokenGate {
  readonly #maxKeys: number;
  /** The key that was not seen for the longest time comes first. */
  readonly #newest = new Map<string, bigint>();
  /** Of the keys that are written to. */
  readonly #queues = new Map<string, WriteQueue>();
  readonly #writes = new AsyncLocalStorage<OpenWrite>();

  /** Throws `TypeError` or `RangeError` naming the option. */
  constructor(options: FencingGateOptions = {}) {
    checkOptions('FencingGate', options, RULES, '{ maxKeys: 10_000 }');
    this.#maxKeys = options.maxKeys ?? MAX_KEYS;
  }

  /**
   * Throws `LockStaleError` when a larger token of the key was here. The code behind the call is guarded up to its first `await`:
   * for a write that takes longer, there is `run`.
   */
  enter(holder: FencedHolder): void {
    const { key, fencingToken } = checkHolder(holder);
    const newest = this.#newest.get(key);
    if (newest !== undefined && newest > fencingToken) {
      throw new LockStaleError(key, fencingToken, newest);
    }
    this.#newest.delete(key);
    this.#newest.set(ownCopy(key), fencingToken);
    if (this.#newest.size > this.#maxKeys) this.#forgetOne();
  }

  /**
   * Runs `write` when those before it in the queue of its key are done, so that a slow one never lands after a newer one. A
   * write may make others under its own token: they are a part of it, and the next in the queue waits for them as well.
   *
   * Rejects, without a call of `write`, with `LockStaleError` when a larger token was here by then, with
   * `FencingTimeoutError`, and with `signal.reason`; with the error of `write` else. Throws `TypeError` or `RangeError`
   * naming a bad option.
   */
  async run<T>(
    holder: FencedHolder,
    write: () => T | Promise<T>,
    options: FencingRunOptions = {},
  ): Promise<T> {
    const { key, fencingToken } = checkHolder(holder);
    const limits = waitLimitsOf(key, options);
    limits.signal?.throwIfAborted();
    this.enter({ key, fencingToken });
    const outer = ongoing(this.#writes.getStore()); // not those that have ended: work that starts work would pile them up
    const queue = openWriteOf({ key, fencingToken }, outer)?.inner ?? this.#queueOf(key);
    await queue.enter(limits);
    const open: OpenWrite = { key, fencingToken, outer, inner: new WriteQueue(), isOver: false };
    try {
      this.enter({ key, fencingToken });
      return await this.#writes.run(open, write);
    } finally {
      open.isOver = true;
      void open.inner.enter().then(() => this.#leave(key, queue));
    }
  }

  /** The largest token seen. `undefined` for a key that was never seen, or was forgotten. */
  newest(key: string): bigint | undefined {
    return this.#newest.get(key);
  }

  /** Lets any token of the key in again: after a forged one, say. Returns whether one was remembered. */
  forget(key: string): boolean {
    return this.#newest.delete(key);
  }

  /** Keys that are remembered. */
  get size(): number {
    return this.#newest.size;
  }

  #queueOf(key: string): WriteQueue {
    const queue = this.#queues.get(key) ?? new WriteQueue();
    this.#queues.set(key, queue);
    return queue;
  }

  #leave(key: string, queue: WriteQueue): void {
    queue.leave();
    if (queue.isIdle && this.#queues.get(key) === queue) this.#queues.delete(key);
  }

  /** Spares a key whose queue has a writer that still waits for its check. */
  #forgetOne(): void {
    for (const key of this.#newest.keys()) {
      if (this.#queues.has(key)) continue;
      this.#newest.delete(key);
      return;
    }
  }
}

/** A part of a string keeps all of it in memory: that of a key, the URL or the body of its request. */
function ownCopy(key: string): string {
  return Buffer.from(key).toString();
}

function waitLimitsOf(key: string, options: FencingRunOptions): WaitLimits {
  checkOptions('FencingGate.run', options, RUN_RULES, '{ waitTimeout: 5_000 }');
  const { waitTimeout = WAIT_TIMEOUT, signal } = options;
  return { waitTimeout, signal, late: () => new FencingTimeoutError(key, waitTimeout) };
}
