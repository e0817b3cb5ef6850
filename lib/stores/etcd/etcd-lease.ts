import type { Lease } from '../../core/lock-store.js';
import type { EtcdNodes } from './etcd-nodes.js';
import type { Place } from './node-creation.js';

export class EtcdLease implements Lease {
  readonly lost: AbortSignal;
  readonly #place: Place;
  readonly #nodes: EtcdNodes;
  #isShared: boolean;
  #extension: Promise<boolean> | undefined;
  #isReleased = false;

  constructor(place: Place, nodes: EtcdNodes) {
    this.lost = place.session.lost;
    this.#place = place;
    this.#nodes = nodes;
    this.#isShared = place.content.permits !== undefined;
  }

  /** The create revision. */
  get fencingToken(): bigint | undefined {
    return this.#isShared ? undefined : this.#place.revision;
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

  async downgrade(): Promise<boolean> {
    if (this.#isReleased || this.#isShared) return this.extend();
    return this.#unlessLost(async () => {
      const isReader = await this.#nodes.downgrade(this.#place);
      if (isReader) this.#isShared = true;
      return isReader;
    });
  }

  #confirm(): Promise<boolean> {
    const { session } = this.#place;
    return this.#unlessLost(async () => {
      await session.confirm();
      return this.#nodes.confirm(this.#place);
    });
  }

  /** Resolves `false` when the session is lost. */
  async #unlessLost(ask: () => Promise<boolean>): Promise<boolean> {
    try {
      return await ask();
    } catch (error) {
      if (this.lost.aborted) return false;
      throw error;
    }
  }
}
