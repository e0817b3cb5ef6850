import { sleep } from './clock.js';
import type { Clock } from './clock.js';
import type { Grant } from './held-lease.js';
import { LockError, LockStoreError, LockTimeoutError } from './lock-errors.js';
import { keyNames } from './lock-keys.js';
import type { ResolvedLockOptions } from './lock-options.js';
import type { AcquireRequest, Lease, LockStore } from './lock-store.js';
import { tryAcquireAll } from './many-keys.js';
import { StoreTimeout } from './store-call.js';
import type { StoreCalls } from './store-call.js';
import { validUntil } from './validity.js';

/** What a call to the store may take beyond the end of the wait, so that a last attempt can be made right at it. */
const LAST_ATTEMPT_GRACE = 100;

export interface AcquisitionSurroundings {
  readonly store: LockStore;
  readonly clock: Clock;
  readonly calls: StoreCalls;
}

/** One caller's way to a grant: attempts, the wait between them, and the clean-up after whatever came too late. */
export class Acquisition {
  readonly #around: AcquisitionSurroundings;
  readonly #request: AcquireRequest;
  readonly #options: ResolvedLockOptions;
  readonly #deadline: number;
  #stopper: AbortController | undefined;
  #attempts = 0;
  #wasHeld = false;
  /** Set while the last answer was a grant that came too late to be of use. */
  #tooLate: LockStoreError | undefined;

  constructor(
    around: AcquisitionSurroundings,
    request: AcquireRequest,
    options: ResolvedLockOptions,
  ) {
    this.#around = around;
    this.#request = request;
    this.#options = options;
    this.#deadline = around.clock.now() + options.waitTimeout;
  }

  /** Ends the wait: `untilGranted` rejects with `reason`. */
  stop(reason: unknown): void {
    this.#stop.abort(reason);
  }

  /** Made when first needed: an acquisition that succeeds at once never waits. */
  get #stop(): AbortController {
    this.#stopper ??= new AbortController();
    return this.#stopper;
  }

  /** One attempt. Resolves `undefined` when someone else holds a key. */
  async once(): Promise<Grant | undefined> {
    const grant = await this.#attempt();
    if (this.#tooLate) throw this.#tooLate;
    return grant;
  }

  /** Rejects with `LockTimeoutError`, `LockStoreError` or the reason of the signal. */
  async untilGranted(): Promise<Grant> {
    const grant = (await this.#attempt()) ?? (await this.#wait());
    if (grant) return grant;
    throw this.#tooLate ?? this.#timeout();
  }

  async #wait(): Promise<Grant | undefined> {
    const { waitTimeout, retryCount, signal } = this.#options;
    if (waitTimeout === 0 || retryCount === 0) return undefined;
    const stop = () => this.stop(signal!.reason);
    signal?.addEventListener('abort', stop, { once: true });
    if (signal?.aborted) stop();
    try {
      return this.#canQueue ? await this.#queue() : await this.#poll();
    } finally {
      signal?.removeEventListener('abort', stop);
    }
  }

  async #poll(): Promise<Grant | undefined> {
    while (this.#attempts <= this.#options.retryCount && this.#left > 0) {
      await sleep(this.#around.clock, Math.min(this.#delay(), this.#left), this.#stop.signal);
      this.#stop.signal.throwIfAborted();
      const grant = await this.#attempt();
      if (grant) return grant;
    }
    return undefined;
  }

  get #canQueue(): boolean {
    const { store } = this.#around;
    const together = this.#request.keys.length === 1 || store.supports.manyKeys === true;
    return store.acquire !== undefined && together;
  }

  /** The store waits. What it hands over is a claim, which one `extend` turns into a whole ttl. */
  async #queue(): Promise<Grant | undefined> {
    const { store, clock } = this.#around;
    const cancel =
      this.#deadline === Infinity
        ? undefined
        : clock.schedule(this.#left, () => this.stop(this.#timeout()));
    try {
      while (this.#left > 0) {
        this.#attempts++;
        const { signal } = this.#stop;
        const lease = await this.#answerTo(store.acquire!(this.#request, signal), this.#left);
        const sentAt = clock.now();
        if (!store.supports.ttl) return { lease, sentAt };
        if (await this.#answerTo(lease.extend(this.#request.ttl), this.#left)) {
          return this.#inTime({ lease, sentAt });
        }
      }
      return undefined;
    } finally {
      cancel?.();
    }
  }

  async #attempt(): Promise<Grant | undefined> {
    this.#options.signal?.throwIfAborted();
    this.#attempts++;
    const { store, clock } = this.#around;
    const sentAt = clock.now();
    const lease = await this.#answerTo(tryAcquireAll(store, this.#request), this.#left);
    this.#tooLate = undefined;
    if (lease) return this.#inTime({ lease, sentAt });
    this.#wasHeld = true;
    return undefined;
  }

  /** A grant that is used up on arrival is not handed out. */
  #inTime(grant: Grant): Grant | undefined {
    const { store, clock } = this.#around;
    const { ttl } = this.#request;
    const now = clock.now();
    if (!store.supports.ttl || validUntil(grant.sentAt, ttl) > now) return grant;
    giveBack(grant.lease);
    const took = Math.round(now - grant.sentAt);
    this.#tooLate = this.#failure(`its answer took ${took} ms, which uses up a ttl of ${ttl} ms`);
    return undefined;
  }

  async #answerTo<T extends Lease | boolean | undefined>(
    answer: Promise<T>,
    left: number,
  ): Promise<T> {
    const limit = Math.min(this.#options.storeTimeout, Math.max(left, LAST_ATTEMPT_GRACE));
    const bound = this.#options.waitTimeout === 0 ? this.#options.storeTimeout : limit;
    const signal = this.#attempts > 1 ? this.#stop.signal : this.#options.signal;
    try {
      return await this.#around.calls.within(answer, bound, signal);
    } catch (error) {
      answer.then(giveBack, () => undefined);
      throw this.#reported(error, signal);
    }
  }

  #reported(error: unknown, signal: AbortSignal | undefined): unknown {
    if (error instanceof LockError || (signal?.aborted && error === signal.reason)) return error;
    if (error instanceof StoreTimeout && this.#wasHeld && this.#left <= 0) return this.#timeout();
    return this.#failure(error instanceof Error ? error.message : String(error), error);
  }

  #failure(why: string, cause?: unknown): LockStoreError {
    return new LockStoreError(keyNames(this.#request.keys), this.#around.store.name, why, {
      cause,
    });
  }

  #timeout(): LockTimeoutError {
    return new LockTimeoutError(keyNames(this.#request.keys), this.#options.waitTimeout, {
      attempts: this.#attempts,
    });
  }

  get #left(): number {
    return this.#deadline - this.#around.clock.now();
  }

  #delay(): number {
    const { retryDelay, retryJitter } = this.#options;
    return Math.max(0, retryDelay + (Math.random() * 2 - 1) * retryJitter);
  }
}

/** For a lease that nobody waits for any more. When this fails too, its ttl frees the key. */
function giveBack(answer: Lease | boolean | undefined): void {
  if (typeof answer === 'object') answer.release().catch(() => undefined);
}
