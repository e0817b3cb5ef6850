import type { Lease } from '../../core/lock-store.js';
import type { RedlockNode } from './redlock-node.js';

/** What the nodes have granted to one holder, and to those of its process after it. What comes after the end goes back. */
export class NodeLeases {
  readonly #leases = new Map<RedlockNode, Lease>();
  #hasEnded = false;

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
