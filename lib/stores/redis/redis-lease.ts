import type { FencingRange, Lease } from '../../core/lock-store.js';
import { DowngradedLease } from './downgraded-lease.js';
import type { Held } from './held.js';
import type { LeaseSurroundings } from './lease-surroundings.js';
import { FENCING_BLOCK } from './redis-lua.js';
import { asFencingToken, asList, isOne } from './replies.js';
import { RAISE, RENEW } from './redis-scripts.js';
import type { Tenure } from './tenure.js';
import type { Tenures } from './tenures.js';

export class RedisLease implements Lease {
  #fencingToken: bigint;
  readonly #held: Held;
  readonly #around: LeaseSurroundings;
  /** Known once the lease may be passed on without asking. */
  #tenure: Tenure | undefined;
  #isClaim = false;
  #isReleased = false;
  /** What has become of this lease, once it was to be that of a reader. */
  #reader: DowngradedLease | undefined;

  constructor(held: Held, around: LeaseSurroundings, fence: bigint, tenure?: Tenure) {
    this.#fencingToken = fence;
    this.#held = held;
    this.#around = around;
    this.#tenure = tenure;
  }

  /** What was handed over to a waiter: good for a moment, until `extend` makes a lease of it. */
  static claimed(held: Held, around: LeaseSurroundings): RedisLease {
    const claim = new RedisLease(held, around, 0n);
    claim.#isClaim = true;
    return claim;
  }

  get fencingToken(): bigint | undefined {
    return this.#reader ? undefined : this.#fencingToken;
  }

  /** What is extended by its value alone. Missing for a claim, a reader, and for several keys. */
  get ofOneKey(): Held | undefined {
    if (this.#isClaim || this.#reader || this.#held.request.keys.length > 1) return undefined;
    return this.#held;
  }

  extend(ttl: number): Promise<boolean> {
    if (this.#isClaim) return this.#confirm(ttl);
    this.#around.holds(ttl);
    return this.#reader?.extend(ttl) ?? this.#around.extensions.extend(this.#held, ttl);
  }

  release(isValid?: () => boolean): Promise<boolean> {
    if (this.#isReleased) return Promise.resolve(false);
    this.#isReleased = true;
    if (this.#reader) return this.#reader.release(isValid);
    this.#endTenure();
    return this.#around.sentAgain.decided(this.#around.lockCalls.release(this.#held), isValid);
  }

  downgrade(): Promise<boolean> {
    if (this.#isReleased) return Promise.resolve(false);
    if (!this.#reader) {
      this.#endTenure();
      this.#reader = new DowngradedLease(this.#held, this.#around);
    }
    return this.#reader.confirm();
  }

  passOn(
    ttl: number,
    renew: boolean,
    tokens?: FencingRange,
  ): Lease | Promise<Lease | undefined> | undefined {
    const { tenures } = this.#around;
    if (!tenures?.allowsPasses || this.#held.request.keys.length > 1 || this.#reader)
      return undefined;
    if (this.#tenure && !tenures.mayPass(this.#tenure)) return undefined;
    this.#isReleased = true;
    if (renew || !this.#tenure?.takeToken()) return this.#renewed(tenures, ttl, tokens);
    return new RedisLease(this.#held, this.#around, this.#fencingToken + 1n, this.#tenure);
  }

  raiseFencing({ from, to }: FencingRange): Promise<boolean> {
    const { keys, value } = this.#held;
    return this.#around.runner.change(RAISE, keys, [value, String(from), String(to)], isOne);
  }

  #endTenure(): void {
    if (this.#tenure) this.#around.tenures?.end(this.#held.keys[0]!);
  }

  /** The claim may have ended, and the key been handed over once more since: only now it gets its fencing token. */
  async #confirm(ttl: number): Promise<boolean> {
    const fence = await this.#renew(ttl).catch((error: unknown) => {
      this.#around.lockCalls.abandon(this.#held);
      throw error;
    });
    if (fence === undefined) return false;
    this.#fencingToken = fence;
    this.#isClaim = false;
    return true;
  }

  async #renewed(tenures: Tenures, ttl: number, tokens?: FencingRange): Promise<Lease | undefined> {
    try {
      await tenures.listen(ttl);
      const isFirst = !this.#tenure;
      const fence = await this.#renew(ttl, tokens);
      if (fence === undefined) {
        if (tokens) this.#around.lockCalls.abandon(this.#held); // it may be ours still, with a counter that is beyond them
        return undefined;
      }
      if (isFirst) tenures.mayPass(this.#tenure!);
      return new RedisLease(this.#held, this.#around, fence, this.#tenure);
    } catch (error) {
      this.#around.lockCalls.abandon(this.#held);
      throw error;
    }
  }

  /** Resolves with the first of a block of fencing tokens, or `undefined` when the key is not ours. */
  async #renew(ttl: number, tokens?: FencingRange): Promise<bigint | undefined> {
    const { runner, tenures } = this.#around;
    const { keys, value } = this.#held;
    this.#around.holds(ttl);
    const tenure = (this.#tenure ??= tenures?.begin(keys[0]!)); // before a message about it can come
    const args = tokens ? [value, ttl, String(tokens.from), String(tokens.to)] : [value, ttl];
    const renewal = await runner.change(RENEW, keys, args, asRenewal);
    if (!renewal) return undefined;
    tenure?.confirm(FENCING_BLOCK - 1, renewal.isAwaited);
    return renewal.fence;
  }
}

/** What RENEW answers. */
function asRenewal(
  reply: unknown,
): { readonly fence: bigint; readonly isAwaited: boolean } | undefined {
  if (reply === null) return undefined;
  const [fence, others] = asList(reply, 2);
  return { fence: asFencingToken(fence), isAwaited: isOne(others) };
}
