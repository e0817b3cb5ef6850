import { passedOn } from '../../core/grant.js';
import type { FencingRange, Lease } from '../../core/lock-store.js';
import { isGranted, isTrue } from './answers.js';
import { take } from './claim.js';
import type { Claim } from './claim.js';
import type { Arbiters } from './arbiters.js';
import type { NodeLeases } from './node-leases.js';
import { QuorumError } from './quorum.js';
import type { Quorum } from './quorum.js';
import type { RedlockNode } from './redlock-node.js';
import { soon } from './soon.js';

/** Fencing tokens that are reserved at once, for as many holders of one process. */
const BLOCK = 64n;

export interface LeaseSurroundings {
  readonly quorum: Quorum;
  readonly arbiters: Arbiters;
  /** Told of every ttl that is asked for. */
  readonly used: (ttl: number) => void;
}

/** The fencing tokens of one holder: its own, and the last one that is reserved for the holders after it. */
interface Tokens {
  readonly own: bigint;
  readonly last: bigint;
}

/** A majority's grant. Of a caller that was woken by the arbiter, a claim until its first `extend`. */
export class RedlockLease implements Lease {
  readonly #claim: Claim;
  readonly #leases: NodeLeases;
  readonly #around: LeaseSurroundings;
  /** Where the lease is passed on: the same node for all holders of this process, for it counts them. */
  readonly #arbiter: RedlockNode | undefined;
  /** Missing while it is a claim. */
  #tokens: Tokens | undefined;
  #isOver = false;

  constructor(
    claim: Claim,
    leases: NodeLeases,
    around: LeaseSurroundings,
    tokens?: Tokens,
    arbiter?: RedlockNode,
  ) {
    this.#claim = claim;
    this.#leases = leases;
    this.#around = around;
    this.#tokens = tokens;
    this.#arbiter = arbiter;
  }

  get fencingToken(): bigint | undefined {
    return this.#around.quorum.fences ? (this.#tokens?.own ?? 0n) : undefined;
  }

  async extend(ttl: number): Promise<boolean> {
    this.#around.used(ttl);
    if (!this.#tokens) return this.#confirm(ttl);
    const validUntil = this.#around.quorum.clock.now() + ttl;
    this.#leases.validUntil = Math.min(this.#leases.validUntil, validUntil); // a shorter ttl may take effect at any time
    const outcome = await this.#around.quorum.ask<boolean | undefined>(
      {
        ask: (node) => this.#leases.askHolder(node, (lease) => this.#extendAt(node, lease, ttl)),
        isYes: (isOurs) => isOurs !== undefined && isTrue(isOurs),
        words: { yes: 'extended', no: 'not held there' },
        deciding: this.#around.quorum.refusal,
      },
      ttl,
    );
    if (outcome === 'yes') this.#rejoin(ttl, validUntil);
    else this.#leases.abandon(); // what is left of it would only keep others waiting
    return outcome === 'yes';
  }

  async release(isValid?: () => boolean): Promise<boolean> {
    if (this.#isOver) return false;
    this.#isOver = true;
    this.#leases.end();
    const { quorum } = this.#around;
    const outcome = await quorum.ask<boolean>(
      {
        ask: (node) => this.#leases.get(node)?.release(isValid),
        isYes: isTrue,
        words: { yes: 'released', no: 'not held there' },
        deciding: quorum.refusal,
        asksBarred: true,
      },
      this.#claim.request.ttl,
    );
    return outcome === 'yes';
  }

  passOn(ttl: number, renew: boolean): Lease | Promise<Lease | undefined> | undefined {
    const arbiter = this.#arbiter ?? this.#around.arbiters.of(this.#claim.request.key);
    if (!arbiter?.isFit || arbiter.unreachable !== undefined) return undefined; // it would not be asked to renew
    const atArbiter = this.#leases.get(arbiter);
    if (!atArbiter || !this.#tokens) return undefined;
    const { own, last } = this.#tokens;
    if (!this.#arbiter && !this.#canRaise(arbiter, last)) return undefined;
    this.#around.used(ttl);
    const isUsedUp = own === last;
    const range = { from: last, to: isUsedUp ? last + BLOCK : last };
    const passed = passedOn(atArbiter, ttl, renew || isUsedUp, range);
    if (!passed) return undefined;
    this.#isOver = true;
    if (passed instanceof Promise) return this.#renewed(arbiter, passed, ttl, range);
    this.#leases.set(arbiter, passed);
    return this.#next(arbiter, { own: own + 1n, last });
  }

  /** Whether a majority, and the arbiter, can reserve fencing tokens from here on. Their grants tell, so before the first pass. */
  #canRaise(arbiter: RedlockNode, from: bigint): boolean {
    const raisers = this.#leases.raisers(from);
    return raisers.length >= this.#around.quorum.majority && raisers.includes(arbiter);
  }

  #next(arbiter: RedlockNode, tokens: Tokens): RedlockLease {
    return new RedlockLease(this.#claim, this.#leases, this.#around, tokens, arbiter);
  }

  async #confirm(ttl: number): Promise<boolean> {
    const { quorum, arbiters } = this.#around;
    const { asked } = this.#claim;
    const claim = { ...this.#claim, request: { ...this.#claim.request, ttl } };
    try {
      const token = await take(quorum, claim, this.#leases);
      if (token !== undefined) this.#tokens = { own: token, last: token };
      else arbiters.setbacks.lost(asked);
      return token !== undefined;
    } catch (error) {
      if (error instanceof QuorumError && arbiters.setbacks.failed(asked)) return false;
      throw error;
    }
  }

  /** A node that does not know the keys as ours is asked for them anew after the next extension. */
  async #extendAt(node: RedlockNode, lease: Lease, ttl: number): Promise<boolean> {
    const isOurs = isTrue(await lease.extend(ttl));
    if (!isOurs && this.#leases.get(node) === lease) this.#leases.delete(node);
    return isOurs;
  }

  /** A node that came back, or was held by somebody who has died, gets the key, too. It does not count before the next extension. */
  #rejoin(ttl: number, validUntil: number): void {
    this.#leases.validUntil = validUntil;
    const request = { ...this.#claim.request, ttl, fencingFloor: this.#tokens!.own };
    for (const node of this.#around.quorum.nodes) {
      if (node.isFit && !this.#leases.get(node)) void this.#leases.offer(node, request);
    }
  }

  /** Asks all nodes for `ttl` more milliseconds, and for a block of fencing tokens. */
  async #renewed(
    arbiter: RedlockNode,
    passed: Promise<Lease | undefined>,
    ttl: number,
    range: FencingRange,
  ): Promise<Lease | undefined> {
    const { quorum } = this.#around;
    const { own } = this.#tokens!;
    const validUntil = quorum.clock.now() + ttl;
    this.#leases.delete(arbiter);
    const renew = async (node: RedlockNode, lease: Lease): Promise<Lease | undefined> => {
      const both = await Promise.all([
        this.#extendAt(node, lease, ttl),
        lease.raiseFencing?.(range),
      ]);
      return both.every((each) => each === true) ? lease : undefined;
    };
    try {
      const outcome = await quorum.ask<Lease | undefined>(
        {
          ask: (node) =>
            node === arbiter ? passed : this.#leases.askHolder(node, (lease) => renew(node, lease)),
          isYes: isGranted,
          words: { yes: 'renewed', no: 'not held there' },
          deciding: quorum.refusal,
          agreed: (node, lease) => this.#leases.set(node, lease!),
        },
        ttl,
      );
      if (outcome === 'yes') {
        this.#leases.validUntil = validUntil;
        await soon(quorum.clock, passed); // to be passed on again
        return this.#next(arbiter, { own: own + 1n, last: range.to });
      }
    } catch (error) {
      this.#leases.abandon();
      throw error;
    }
    this.#leases.abandon();
    return undefined;
  }
}
