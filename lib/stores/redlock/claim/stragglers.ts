import type { AcquireRequest } from '../../../core/contract/lock-store.js';
import type { NodeLeases } from './node-leases.js';
import type { Quorum } from '../vote/quorum.js';
import type { RedlockNode } from '../node/redlock-node.js';

/** Milliseconds until a node that refused the keys is asked once more; three times as many after each refusal, up to the longest. */
const FIRST_PAUSE = 10;
const LONGEST_PAUSE = 2_430;

/**
 * Nodes that did not grant the keys although a majority did. Another caller has the keys there: it has lost the vote, or has
 * released them. It gives them back soon, if only to claim them once more. Or the node was not asked, because its server was not
 * known yet. Without the keys at the queue node, its waiters would be woken in vain, again and again. And a bare majority would
 * not survive the loss of one more node.
 */
export class Stragglers {
  readonly #quorum: Quorum;
  readonly #leases: NodeLeases;
  readonly #nodes = new Set<RedlockNode>();
  #request: AcquireRequest | undefined;

  constructor(quorum: Quorum, leases: NodeLeases) {
    this.#quorum = quorum;
    this.#leases = leases;
  }

  /** Only a node that refuses the keys to their holder is asked again. */
  refused(node: RedlockNode): void {
    this.#nodes.add(node);
    if (this.#request && this.#nodes.size === 1) this.#askAfter(FIRST_PAUSE);
  }

  /** A majority has granted the keys: from now on `request` is sent to the nodes that refused them. */
  granted(request: AcquireRequest): void {
    this.#request = request;
    if (this.#nodes.size > 0) this.#askAfter(FIRST_PAUSE);
  }

  #askAfter(pause: number): void {
    if (pause > LONGEST_PAUSE) return;
    const ask = () =>
      void this.#ask().then(() => this.#nodes.size > 0 && this.#askAfter(3 * pause));
    this.#quorum.clock.schedule(pause * (0.5 + Math.random()), ask, true);
  }

  /** Never rejects. */
  async #ask(): Promise<void> {
    const isOver = this.#quorum.clock.now() + 1 > this.#leases.validUntil;
    if (isOver || this.#leases.hasEnded) this.#nodes.clear();
    await Promise.all(Array.from(this.#nodes, (node) => this.#askNode(node)));
  }

  /** For the rest of the ttl that the other nodes were last asked for. */
  async #askNode(node: RedlockNode): Promise<void> {
    const leases = this.#leases;
    const ttl = Math.floor(leases.validUntil - this.#quorum.clock.now());
    // A node without a vote may soon have one.
    if (node.isFit && !leases.get(node)) await leases.offer(node, { ...this.#request!, ttl });
    if (leases.get(node)) this.#nodes.delete(node);
  }
}
