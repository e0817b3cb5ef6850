import { waitAtMost } from '../../../core/async/sleep.js';
import { tryHandOff } from '../../../core/store/grant.js';
import type { AcquireRequest, FencingRange } from '../../../core/contract/lock-store.js';
import type { HandedOffLease, Lease } from '../../../core/contract/lock-store.js';
import { isGranted, isStillOurs, isTrue } from '../vote/answers.js';
import { take } from '../claim/claim.js';
import type { Claim } from '../claim/claim.js';
import type { LeaseContext, Tokens } from './lease-context.js';
import type { NodeLeases } from '../claim/node-leases.js';
import { retireAll } from './retire-all.js';
import { LONGEST_LAG, QuorumError } from '../vote/quorum.js';
import type { RedlockNode } from '../node/redlock-node.js';

/** Fencing tokens that are reserved at once, for as many holders of one process. */
const BLOCK = 64n;

/** A majority's grant. For a waiter that its queue node has woken, it is a claim until its first `extend`. */
export class RedlockLease implements Lease {
  readonly #claim: Claim;
  readonly #leases: NodeLeases;
  readonly #context: LeaseContext;
  /** Where the lease is handed off: the same node for all holders of this process, because it counts them. */
  readonly #queueNode: RedlockNode | undefined;
  /** Missing while it is a claim. */
  #tokens: Tokens | undefined;
  #isOver = false;
  readonly retire = (ms: number) => retireAll(this.#context.quorum, this.#leases, ms);

  constructor(
    claim: Claim,
    leases: NodeLeases,
    context: LeaseContext,
    tokens?: Tokens,
    queueNode?: RedlockNode,
  ) {
    this.#claim = claim;
    this.#leases = leases;
    this.#context = context;
    this.#tokens = tokens;
    this.#queueNode = queueNode;
  }

  get fencingToken(): bigint | undefined {
    return this.#context.quorum.fences ? (this.#tokens?.own ?? 0n) : undefined;
  }

  async extend(ttl: number): Promise<boolean> {
    this.#context.used(ttl);
    if (!this.#tokens) return this.#confirm(ttl);
    const validUntil = this.#context.quorum.clock.now() + ttl;
    this.#leases.validUntil = Math.min(this.#leases.validUntil, validUntil); // a shorter ttl may take effect at any time
    const outcome = await this.#context.quorum.ask<boolean | undefined>(
      {
        ask: (node) => this.#leases.askHolder(node, (lease) => this.#extendAt(node, lease, ttl)),
        isYes: isStillOurs,
        words: { yes: 'extended', no: 'not held there' },
        deciding: this.#context.quorum.refusal,
      },
      ttl,
    );
    if (outcome === 'yes') this.#rejoin(ttl, validUntil);
    else this.#leases.abandon(); // the rest of it would only keep others waiting
    return outcome === 'yes';
  }

  /** Takes the key again, for the `ttl` of `asked` and with a token of at least its `fencingFloor`. `false`: it was lost. */
  async renew({ ttl, fencingFloor }: AcquireRequest): Promise<boolean> {
    const request = { ...this.#claim.request, ttl, ...(fencingFloor && { fencingFloor }) };
    return !this.#isOver && this.#take(request);
  }

  async release(isValid?: () => boolean): Promise<boolean> {
    if (this.#isOver) return false;
    this.#isOver = true;
    this.#leases.end();
    const { quorum } = this.#context;
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

  handOff(ttl: number, renew: boolean): HandedOffLease {
    const queueNode = this.#queueNode ?? this.#context.queueNodes.of(this.#claim.request.key);
    if (!queueNode?.isFit || queueNode.unreachable !== undefined) return undefined; // it would not be asked to renew
    const atQueueNode = this.#leases.get(queueNode);
    if (!atQueueNode || !this.#tokens) return undefined;
    const { own, last } = this.#tokens;
    if (!this.#queueNode && !this.#canRaise(queueNode, last)) return undefined;
    this.#context.used(ttl);
    const isUsedUp = own === last;
    const range = { from: last, to: isUsedUp ? last + BLOCK : last };
    const handedOff = tryHandOff(atQueueNode, ttl, renew || isUsedUp, range);
    if (!handedOff) return undefined;
    this.#isOver = true;
    if (handedOff instanceof Promise) return this.#renewed(queueNode, handedOff, ttl, range);
    this.#leases.set(queueNode, handedOff);
    return this.#next(queueNode, { own: own + 1n, last });
  }

  /**
   * Whether a majority, and the queue node, can reserve fencing tokens from here on. Their grants tell, so call it before the
   * first hand-off.
   */
  #canRaise(queueNode: RedlockNode, from: bigint): boolean {
    const raisers = this.#leases.raisers(from);
    return raisers.length >= this.#context.quorum.majority && raisers.includes(queueNode);
  }

  #next(queueNode: RedlockNode, tokens: Tokens): RedlockLease {
    return new RedlockLease(this.#claim, this.#leases, this.#context, tokens, queueNode);
  }

  async #confirm(ttl: number): Promise<boolean> {
    const { backoff } = this.#context.queueNodes;
    const { asked, request } = this.#claim;
    try {
      const isOurs = await this.#take({ ...request, ttl });
      if (!isOurs) backoff.lost(asked);
      return isOurs;
    } catch (error) {
      if (error instanceof QuorumError && backoff.failed(asked)) return false;
      throw error;
    }
  }

  async #take(request: AcquireRequest): Promise<boolean> {
    const token = await take(this.#context.quorum, { ...this.#claim, request }, this.#leases);
    if (token !== undefined) this.#tokens = { own: token, last: token };
    return token !== undefined;
  }

  /** A node that does not know the keys as ours is asked for them anew after the next extension. */
  async #extendAt(node: RedlockNode, lease: Lease, ttl: number): Promise<boolean> {
    const isOurs = isTrue(await lease.extend(ttl));
    if (!isOurs && this.#leases.get(node) === lease) this.#leases.delete(node);
    return isOurs;
  }

  /** A node that came back, or whose holder has died, gets the key, too. It does not count before the next extension. */
  #rejoin(ttl: number, validUntil: number): void {
    this.#leases.validUntil = validUntil;
    const request = { ...this.#claim.request, ttl, fencingFloor: this.#tokens!.own };
    for (const node of this.#context.quorum.nodes) {
      if (node.isFit && !this.#leases.get(node)) void this.#leases.offer(node, request);
    }
  }

  /** Asks all nodes for `ttl` more milliseconds, and for a block of fencing tokens. */
  async #renewed(
    queueNode: RedlockNode,
    handedOff: Promise<Lease | undefined>,
    ttl: number,
    range: FencingRange,
  ): Promise<Lease | undefined> {
    const { quorum } = this.#context;
    const { own } = this.#tokens!;
    const validUntil = quorum.clock.now() + ttl;
    this.#leases.delete(queueNode);
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
            node === queueNode
              ? handedOff
              : this.#leases.askHolder(node, (lease) => renew(node, lease)),
          isYes: isGranted,
          words: { yes: 'renewed', no: 'not held there' },
          deciding: quorum.refusal,
          agreed: (node, lease) => this.#leases.set(node, lease!),
        },
        ttl,
      );
      if (outcome === 'yes') {
        this.#leases.validUntil = validUntil;
        await waitAtMost(quorum.clock, LONGEST_LAG, handedOff); // to be handed off again
        return this.#next(queueNode, { own: own + 1n, last: range.to });
      }
    } catch (error) {
      this.#leases.abandon();
      throw error;
    }
    this.#leases.abandon();
    return undefined;
  }
}
