import { checkAttempt } from '../../../core/store/grant.js';
import type { AcquireRequest, Lease } from '../../../core/contract/lock-store.js';
import type { RedlockNode } from '../node/redlock-node.js';

/**
 * The grants of the nodes to one holder, and to the later holders of its process. A grant that comes after the end is released.
 */
export class NodeLeases {
  readonly #leases = new Map<RedlockNode, Lease>();
  /** Unanswered requests. */
  readonly #open = new Map<RedlockNode, Promise<Lease | undefined>>();
  readonly #onEnd: (() => void)[] = [];
  #hasEnded = false;
  /** When the last requested ttl has passed: a later request would hold a key for no caller. */
  validUntil = Infinity;

  get hasEnded(): boolean {
    return this.#hasEnded;
  }

  /** Calls `listener` at the end. */
  onEnd(listener: () => void): void {
    this.#onEnd.push(listener);
  }

  get(node: RedlockNode): Lease | undefined {
    return this.#leases.get(node);
  }

  set(node: RedlockNode, lease: Lease): void {
    if (this.#hasEnded) giveBack(lease);
    else this.#leases.set(node, lease);
  }

  /**
   * Asks a node for the keys, unless an earlier request to it is unanswered. A failed request is taken back by its token, so it
   * must not fail after a later one with the same token has succeeded.
   */
  ask(node: RedlockNode, request: AcquireRequest): Promise<Lease | undefined> {
    const earlier = this.#open.get(node);
    if (earlier) return earlier;
    const answer = node.store.tryAcquire(request);
    this.#open.set(node, answer);
    return answer;
  }

  /** Call it for each answer to `ask`, even an error. */
  answered(node: RedlockNode): void {
    this.#open.delete(node);
  }

  /** As `ask`, outside a vote. Keeps the grant, unless the node has a lease by then. Never rejects. */
  async offer(node: RedlockNode, request: AcquireRequest): Promise<void> {
    try {
      const lease = await this.ask(node, request);
      checkAttempt(lease);
      if (lease && (this.#hasEnded || !this.get(node))) this.set(node, lease);
    } catch {
      // equivalent to a refusal
    } finally {
      this.answered(node);
    }
  }

  /** The grant of a node, perhaps only when its answer comes. */
  expected(node: RedlockNode): Lease | Promise<Lease | undefined> | undefined {
    return this.#leases.get(node) ?? this.#open.get(node);
  }

  /** Asks a node that granted the keys, or that grants them late. */
  askHolder<Answer>(
    node: RedlockNode,
    ask: (lease: Lease) => Promise<Answer>,
  ): Promise<Answer | undefined> | undefined {
    const lease = this.expected(node);
    return lease instanceof Promise
      ? lease.then((granted) => granted && ask(granted))
      : lease && ask(lease);
  }

  /**
   * The nodes that can raise their fencing counters from `from`, as far as their grants tell: the counter of a late grant is
   * beyond it.
   */
  raisers(from: bigint): RedlockNode[] {
    const canRaise = (lease: Lease) => lease.raiseFencing && (lease.fencingToken ?? 0n) <= from;
    return Array.from(this.#leases.keys()).filter((node) => canRaise(this.#leases.get(node)!));
  }

  /** Retires a lease that has been handed off. */
  delete(node: RedlockNode): void {
    this.#leases.delete(node);
  }

  /** Nothing is granted any more; existing grants can be released. */
  end(): void {
    this.#hasEnded = true;
    for (const listener of this.#onEnd.splice(0)) listener();
  }

  /** Ends and releases everything. Never rejects: if it fails, the ttl frees the key. */
  abandon(): void {
    if (this.#hasEnded) return;
    this.end();
    for (const [node, lease] of this.#leases) if (!node.overloaded) giveBack(lease);
  }
}

function giveBack(lease: Lease): void {
  lease.release().catch(() => undefined);
}
