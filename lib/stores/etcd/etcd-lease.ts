import type { Lease } from '../../core/lock-store.js';
import type { EtcdNodes, Place } from './etcd-nodes.js';

export class EtcdLease implements Lease {
  /** The create revision. */
  readonly fencingToken: bigint;
  readonly lost: AbortSignal;
  readonly #place: Place;
  readonly #nodes: EtcdNodes;
  #extension: Promise<boolean> | undefined;
  #isReleased = false;

  constructor(place: Place, nodes: EtcdNodes) {
    this.fencingToken = place.revision;
    this.lost = place.session.lost;
    this.#place = place;
    this.#nodes = nodes;
  }

  /** The time to live is that of the session: this asks whether it lives, and whether the nodes do. */
  extend(): Promise<boolean> {
    if (this.#isReleased) return Promise.resolve(false);
    this.#extension ??= this.#confirm().finally(() => (this.#extension = undefined));
    return this.#extension;
  }

  /** Goes on when its caller has given up, until etcd has answered or the session is lost. */
  release(): Promise<boolean> {
    if (this.#isReleased) return Promise.resolve(false);
    this.#isReleased = true;
    return this.#nodes.leave(this.#place);
  }

  async #confirm(): Promise<boolean> {
    const { session } = this.#place;
    try {
      await session.confirm();
      return await this.#nodes.confirm(this.#place);
    } catch (error) {
      if (session.isLost) return false;
      throw error;
    }
  }
}
