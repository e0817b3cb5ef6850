import { systemClock } from '../../../core/async/clock.js';
import type { FencingRange, HandedOffLease, Lease } from '../../../core/contract/lock-store.js';
import { DowngradedLease } from './downgraded-lease.js';
import { RetiredLease } from './retired-lease.js';
import type { NamedLock } from '../keys/named-lock.js';
import type { LeaseContext } from './lease-context.js';
import { FENCING_BLOCK } from '../lua/fencing-token.js';
import { asRenewal, isOne } from '../lua/replies.js';
import { RAISE, RENEW } from '../lua/lease-scripts.js';
import type { HandedOff } from '../queue/queue-place.js';
import type { LocalHandoff } from '../queue/local-handoff.js';
import type { LocalHandoffs } from '../queue/local-handoffs.js';

export class RedisLease implements Lease {
  /** Set where the server gave the lock to a waiter in answer to a release. */
  readonly #handedOff: HandedOff | undefined;
  /** Missing once it is a reader's. */
  fencingToken: bigint | undefined;
  readonly #held: NamedLock;
  readonly #context: LeaseContext;
  /** Set once the lease may be handed off without a command. */
  #handoff: LocalHandoff | undefined;
  #isClaim = false;
  /** Arrival time of a handed-off claim. */
  #claimedAt: number | undefined;
  /** A caller of this process waits for it. */
  #hasNext = false;
  #isReleased = false;
  /** Set once this lease is to become a reader's. */
  #reader: DowngradedLease | undefined;
  #retired: RetiredLease | undefined;

  constructor(
    held: NamedLock,
    context: LeaseContext,
    fence: bigint,
    handoff?: LocalHandoff,
    handedOff?: HandedOff,
  ) {
    this.#handedOff = handedOff;
    this.fencingToken = fence;
    this.#held = held;
    this.#context = context;
    this.#handoff = handoff;
    if (handoff) handoff.token = fence;
  }

  /** A waiter's claim after a hand-off: valid for a moment, until `extend` makes a lease of it. */
  static claimed(held: NamedLock, context: LeaseContext): RedisLease {
    const claim = new RedisLease(held, context, 0n);
    claim.#isClaim = true;
    claim.#claimedAt = systemClock.now();
    return claim;
  }

  /** The previous holder of this store has released the lock for it. */
  static handedOff(held: NamedLock, context: LeaseContext, how: HandedOff): RedisLease {
    const handoff = context.handoffs?.begin(held.keys[0]!, systemClock.now());
    return new RedisLease(held, context, how.fence, handoff, how);
  }

  get claim(): Lease['claim'] {
    if (!this.#handedOff) return undefined;
    const { sentAt, ttl } = this.#handedOff;
    return { age: systemClock.now() - sentAt, ttl };
  }

  /** Set where the value is enough to extend it. Missing for a claim, a reader, and for several keys. */
  get ofOneKey(): NamedLock | undefined {
    if (this.#isClaim || this.#reader || this.#held.request.keys.length > 1) return undefined;
    return this.#held;
  }

  extend(ttl: number): Promise<boolean> {
    if (this.#isClaim) return this.#confirm(ttl);
    this.#context.keeps(ttl);
    return this.#reader?.extend(ttl) ?? this.#context.extensions.extend(this.#held, ttl);
  }

  release(isValid?: () => boolean): Promise<boolean> {
    if (this.#isReleased) return Promise.resolve(false);
    this.#isReleased = true;
    if (this.#reader) return this.#reader.release(isValid);
    const { lockCalls, sentAgain, strictQueue } = this.#context;
    const held = this.#held;
    const decide = sentAgain.decision(isValid);
    const freed = this.#retired?.release() ?? (this.#handoff && this.#leaveFree());
    if (freed) return freed.then(decide);
    const strict = strictQueue?.release(held);
    if (strict) return lockCalls.make(strict).then(decide);
    return lockCalls.make({ held, read: (reply) => reply === 1 || decide(isOne(reply)) });
  }

  retire(ms: number): Promise<boolean> {
    if (this.#isReleased || this.#isClaim || this.#reader) return Promise.resolve(false);
    this.#endHold();
    this.#retired ??= new RetiredLease(this.#held, this.fencingToken!, this.#context);
    return this.#retired.confirm(ms);
  }

  downgrade(): Promise<boolean> {
    if (this.#isReleased) return Promise.resolve(false);
    if (!this.#reader) {
      this.#endHold();
      this.#reader = new DowngradedLease(this.#held, this.#context);
      this.fencingToken = undefined;
    }
    return this.#reader.confirm();
  }

  handOffRaising(ttl: number, renew: boolean, tokens: FencingRange): HandedOffLease {
    return this.handOff(ttl, renew, tokens);
  }

  handOff(ttl: number, renew: boolean, tokens?: FencingRange): HandedOffLease {
    const { handoffs } = this.#context;
    this.#hasNext = true;
    if (!handoffs?.allowsHandoffs || this.#held.request.keys.length > 1 || this.#reader)
      return undefined;
    const now = systemClock.now();
    if (this.#handoff && (now >= this.#handoff.freeAt || !handoffs.mayHandOff(this.#handoff)))
      return undefined;
    this.#isReleased = true;
    if (renew || !this.#handoff?.takeToken(now)) return this.#renewed(handoffs, ttl, tokens);
    return new RedisLease(this.#held, this.#context, this.fencingToken! + 1n, this.#handoff);
  }

  raiseFencing({ from, to }: FencingRange): Promise<boolean> {
    const { keys, value } = this.#held;
    return this.#context.runner.change(RAISE, keys, [value, String(from), String(to)], isOne);
  }

  /** Ends a hold of this process. `undefined`: the lock is not to be left free for a moment. */
  #leaveFree(): Promise<boolean> | undefined {
    if (!this.#endHold()) return undefined;
    const { freeMoments, lockCalls } = this.#context;
    return freeMoments!.release(this.#held, this.#hasNext).catch((error: unknown) => {
      lockCalls.abandon(this.#held);
      throw error;
    });
  }

  /** Returns whether the lock is to be left free for a moment. */
  #endHold(): boolean {
    if (!this.#handoff) return false;
    return this.#context.handoffs!.end(this.#held.keys[0]!, this.#handoff);
  }

  /** The claim may have ended, and the key may have a new holder: only now it gets its fencing token. */
  async #confirm(ttl: number): Promise<boolean> {
    const fence = await this.#renew(ttl).catch((error: unknown) => {
      this.#context.lockCalls.abandon(this.#held);
      throw error;
    });
    if (fence === undefined) return false;
    this.fencingToken = fence;
    this.#isClaim = false;
    return true;
  }

  async #renewed(
    handoffs: LocalHandoffs,
    ttl: number,
    tokens?: FencingRange,
  ): Promise<Lease | undefined> {
    try {
      await handoffs.listen(ttl);
      const isFirst = !this.#handoff;
      const fence = await this.#renew(ttl, tokens);
      if (fence === undefined) {
        if (tokens) this.#context.lockCalls.abandon(this.#held); // it may still be ours, with a counter beyond them
        return undefined;
      }
      if (isFirst) handoffs.mayHandOff(this.#handoff!);
      return new RedisLease(this.#held, this.#context, fence, this.#handoff);
    } catch (error) {
      this.#context.lockCalls.abandon(this.#held);
      throw error;
    }
  }

  /** Resolves with the first of a block of fencing tokens, or `undefined` when the key is not ours. */
  async #renew(ttl: number, tokens?: FencingRange): Promise<bigint | undefined> {
    const { runner, handoffs } = this.#context;
    const { keys, value } = this.#held;
    this.#context.watches.clocks?.holds(ttl);
    const since = this.#claimedAt ?? systemClock.now();
    const handoff = (this.#handoff ??= handoffs?.begin(keys[0]!, since)); // before a message about it can come
    const args = tokens ? [value, ttl, String(tokens.from), String(tokens.to)] : [value, ttl];
    const renewal = await runner.change(RENEW, keys, args, asRenewal);
    if (!renewal) return undefined;
    handoff?.confirm(FENCING_BLOCK - 1, renewal.isAwaited);
    return renewal.fence;
  }
}
