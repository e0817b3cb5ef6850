import { systemClock } from '../../../core/async/clock.js';
import type { AcquireRequest, Lease } from '../../../core/contract/lock-store.js';
import type { NamedLock } from '../keys/named-lock.js';
import { asFencingToken, asList, asText, isOne } from '../lua/replies.js';
import type { LockCall, LockCalls } from '../send/lock-calls.js';
import type { RedisQueue } from './redis-queue.js';

/**
 * Order over processes (`localPassLimit: 0`), for the callers of one store: each has its own place in the server's line. Saves
 * what the server would only repeat, which is as much as the line in the process saves (`bench/processes.mjs`).
 */
export class StrictQueue {
  readonly #queue: RedisQueue;
  readonly #lockCalls: () => LockCalls;
  /** When callers that were refused had asked. */
  readonly #arrivals = new WeakMap<AcquireRequest, number>();
  /** Attempts in progress, by lock. */
  readonly #attempts = new Map<string, Promise<Lease | undefined>>();

  constructor(queue: RedisQueue, lockCalls: () => LockCalls) {
    this.#queue = queue;
    this.#lockCalls = lockCalls;
  }

  /**
   * One attempt for one key. It ends after that of a caller of this store that has just asked, so that the two enter the line in
   * their order. It is refused without a question where a caller of this store has a living place in the line.
   */
  async attempt(
    lock: string,
    request: AcquireRequest,
    ask: () => Promise<Lease | undefined>,
  ): Promise<Lease | undefined> {
    this.arrived(request);
    const other = this.#attempts.get(lock);
    if (other) return other.then(() => undefined, ask);
    if (this.#queue.isAwaited(lock)) return undefined;
    const attempt = ask();
    this.#attempts.set(lock, attempt);
    try {
      return await attempt;
    } finally {
      this.#attempts.delete(lock);
    }
  }

  /** A caller asks. */
  arrived(request: AcquireRequest): void {
    this.#arrivals.set(request, systemClock.now());
  }

  /** When the caller asked first. */
  arrivalOf(request: AcquireRequest): number {
    return this.#arrivals.get(request) ?? systemClock.now();
  }

  /**
   * The release of `held`, which gives the lock to the next place in line, where that is one of this store. Missing where it has
   * several keys.
   */
  release(held: NamedLock): LockCall<boolean> | undefined {
    if (held.request.keys.length > 1) return undefined;
    const lock = held.keys[0]!;
    const ttl = this.#queue.nextTtl(lock) ?? 0; // none of this store waits
    const sentAt = systemClock.now();
    return {
      held,
      last: ttl,
      read: (reply) => {
        if (Array.isArray(reply)) return this.#succeed(held, reply, { sentAt, ttl });
        const wasOurs = isOne(reply);
        if (!wasOurs) this.#queue.look(lock); // a release that is sent again may have given it to one of them
        return wasOurs;
      },
      failed: () => this.#queue.look(lock),
    };
  }

  #succeed(held: NamedLock, reply: unknown, claim: { sentAt: number; ttl: number }): true {
    const [value, fence] = asList(reply, 2);
    const handedOff = { ...claim, fence: asFencingToken(fence) };
    const next = { ...held, value: asText(value) };
    if (!this.#queue.handedOff(next.value, handedOff)) this.#lockCalls().abandon(next); // it has left the line
    return true;
  }
}
