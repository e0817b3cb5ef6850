import { eitherOf } from '../../core/async/abort-signals.js';
import { sleep } from '../../core/async/sleep.js';
import type { AcquireRequest, Lease } from '../../core/contract/lock-store.js';
import { isPermit } from '../../core/sharing/hold-mode.js';
import { checkClaim, giveBack } from '../../core/store/grant.js';
import { attempt } from './dual-attempts.js';
import type { DualAttempts, DualContext } from './dual-attempts.js';
import type { PairRequest } from './pair-requests.js';

/** Milliseconds between two attempts at a store without a queue. */
const PAUSE = 50;
/** The part of the ttl for which `from` is held while `to` is awaited. */
const PART = 3;

/** Waits in the queue of `from`, and then, with the key of `from`, for `to`. */
export class DualQueue {
  readonly #context: DualContext;
  readonly #attempts: DualAttempts;

  /** `from` has a queue. */
  constructor(context: DualContext, attempts: DualAttempts) {
    this.#context = context;
    this.#attempts = attempts;
  }

  /** Rejects with the reason of `signal`. A caller whom `to` makes wait for too long goes back to the end of the queue. */
  async wait(request: AcquireRequest, signal: AbortSignal): Promise<Lease> {
    for (;;) {
      signal.throwIfAborted();
      const lease = await this.#once(request, signal);
      if (lease && !signal.aborted) return lease;
      giveBack(lease);
    }
  }

  async #once(request: AcquireRequest, signal: AbortSignal): Promise<Lease | undefined> {
    const { from, clock } = this.#context;
    const claim = await from.acquire!(this.#attempts.pairs.of(request).from, signal);
    checkClaim(claim);
    const sentAt = clock.now();
    try {
      if (from.supports.ttl && !(await claim.extend(request.ttl))) return undefined;
    } catch (error) {
      giveBack(claim);
      throw error;
    }
    const limit = eitherOf(signal);
    const cancel = clock.schedule(request.ttl / PART, () => limit.abort(new Error('to is held')));
    try {
      return await this.#attempts.both(request, { lease: claim, sentAt }, (pair) =>
        this.#untilGranted(pair, limit.signal),
      );
    } finally {
      cancel();
      limit.forget();
    }
  }

  /** `undefined`: the time is up. */
  async #untilGranted(pair: PairRequest, signal: AbortSignal): Promise<Lease | undefined> {
    const { to, clock } = this.#context;
    const hasQueue = this.#hasQueue(pair);
    // A store that counts revisions needs no floor, and takes further keys for a token that came out of its queue.
    const isDone = hasQueue && to.supports.fencingFloor === false;
    let claim: Lease | undefined;
    while (!signal.aborted) {
      const lease = isDone ? undefined : await attempt(to, pair.toWithFloor); // a claim of this token is granted again
      if (lease) return lease;
      giveBack(claim);
      claim = hasQueue ? await this.#claim(pair, signal) : undefined;
      if (!claim) await sleep(clock, PAUSE, signal);
      else if (isDone) return claim;
    }
    giveBack(claim);
    return undefined;
  }

  async #claim({ to: request }: PairRequest, signal: AbortSignal): Promise<Lease | undefined> {
    const { to } = this.#context;
    try {
      const claim = await to.acquire!(request, signal);
      checkClaim(claim);
      if (!to.supports.ttl) return claim;
      if (await claim.extend(request.ttl)) return claim;
    } catch (error) {
      if (!signal.aborted) throw error;
    }
    return undefined;
  }

  #hasQueue({ to: { permits, keys } }: PairRequest): boolean {
    const { to } = this.#context;
    const { supports } = to;
    const isPolled = isPermit(permits) && supports.semaphores !== true;
    return to.acquire !== undefined && !isPolled && keys.length === 1 && supports.queuesManyKeys === true; // prettier-ignore
  }
}
