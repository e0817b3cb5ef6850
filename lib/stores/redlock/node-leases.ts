import { checkAttempt } from '../../core/grant.js';
import type { AcquireRequest, Lease } from '../../core/lock-store.js';
import type { RedlockNode } from './redlock-node.js';

/** What the nodes have granted to one holder, and to those of its process after it. What comes after the end goes back. */
export class NodeLeases {
  readonly #leases = new Map<RedlockNode, Lease>();
  /** Requests that have not been answered yet. */
  readonly #open = new Map<RedlockNode, Promise<Lease | undefined>>();
  #hasEnded = false;
  /** When the ttl that was asked for last has passed: who asks later would hold a key for nobody. */
  validUntil = Infinity;

  get hasEnded(): boolean {
    return this.#hasEnded;
  }

  get(node: RedlockNode): Lease | undefined {
    return this.#leases.get(node);
  }

  set(node: RedlockNode, lease: Lease): void {
    if (this.#hasEnded) giveBack(lease);
    else this.#leases.set(node, lease);
  }

  /**
   * Asks a node for the keys, unless it has been asked already and has not answered: a request that fails is taken back by its
   * token, and so must not fail after a later one with the same token has succeeded.
   */
  ask(node: RedlockNode, request: AcquireRequest): Promise<Lease | undefined> {
    const earlier = this.#open.get(node);
    if (earlier) return earlier;
    const answer = node.store.tryAcquire(request);
    this.#open.set(node, answer);
    return answer;
  }

  /** To be called for each answer to `ask`, if only an error. */
  answered(node: RedlockNode): void {
    this.#open.delete(node);
  }

  /** As `ask`, outside a vote. Keeps what is granted, unless a lease is kept there by then. Never rejects. */
  async offer(node: RedlockNode, request: AcquireRequest): Promise<void> {
    try {
      const lease = await this.ask(node, request);
      checkAttempt(lease);
      if (lease && (this.#hasEnded || !this.get(node))) this.set(node, lease);
    } catch {
      // as good as a refusal
    } finally {
      this.answered(node);
    }
  }

  /** What a node grants, perhaps only when its answer comes. */
  expected(node: RedlockNode): Lease | Promise<Lease | undefined> | undefined {
    return this.#leases.get(node) ?? this.#open.get(node);
  }

  /** Asks a node that granted the keys, if need be once its grant has arrived. */
  askHolder<Answer>(
    node: RedlockNode,
    ask: (lease: Lease) => Promise<Answer>,
  ): Promise<Answer | undefined> | undefined {
    const lease = this.expected(node);
    return lease instanceof Promise
      ? lease.then((granted) => granted && ask(granted))
      : lease && ask(lease);
  }

  /** The nodes that can raise their fencing counters from `from`, as far as their grants tell: that of a late one is beyond it. */
  raisers(from: bigint): RedlockNode[] {
    const canRaise = (lease: Lease) => lease.raiseFencing && (lease.fencingToken ?? 0n) <= from;
    return Array.from(this.#leases.keys()).filter((node) => canRaise(this.#leases.get(node)!));
  }

  /** Takes a lease that has been passed on out of use. */
  delete(node: RedlockNode): void {
    this.#leases.delete(node);
  }

  /** Nothing is granted any more; what is there can be released. */
  end(): void {
    this.#hasEnded = true;
  }

  /** Ends and releases everything. Never rejects: where it fails, the ttl frees the key. */
  abandon(): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    for (const [node, lease] of this.#leases) if (!node.overloaded) giveBack(lease);
  }
}

function giveBack(lease: Lease): void {
  lease.release().catch(() => undefined);
}
