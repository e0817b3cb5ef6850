import { eitherOf, tellAtOnce } from '../../../core/async/abort-signals.js';
import type { Cancel } from '../../../core/async/clock.js';
import type { Lease } from '../../../core/contract/lock-store.js';
import type { EtcdNodes } from '../queue/etcd-nodes.js';
import type { Place } from '../queue/node-creation.js';
import type { NodeWatch } from '../queue/node-watch.js';
import { isShared } from '../../../core/sharing/hold-mode.js';

export class EtcdLease implements Lease {
  /** Aborts when the session is lost, or a node is gone. */
  readonly lost: AbortSignal;
  readonly #place: Place;
  readonly #nodes: EtcdNodes;
  readonly #life: ReturnType<typeof eitherOf>;
  readonly #unwatch: Cancel;
  readonly #onEnd: (() => void)[] = [];
  #isShared: boolean;
  #extension: Promise<boolean> | undefined;
  #isReleased = false;
  /** The deletion of the other nodes, after one was gone. */
  #givenBack: Promise<unknown> | undefined;

  constructor(place: Place, nodes: EtcdNodes, watch: NodeWatch) {
    const { session } = place;
    this.#place = place;
    this.#nodes = nodes;
    this.#life = eitherOf(session.lost);
    this.lost = this.#life.signal;
    tellAtOnce(this.lost, () => session.isLost);
    this.#unwatch = watch.start(place, () => this.#gone());
    this.#isShared = isShared(place.content.permits);
  }

  /** A revision at which it was held: those of earlier grants are smaller, those of later grants larger. */
  get fencingToken(): bigint | undefined {
    return this.#isShared ? undefined : this.#place.token;
  }

  /** Calls `listener` when it is released, or one of its nodes is gone. */
  onEnd(listener: () => void): void {
    this.#onEnd.push(listener);
  }

  /** The time to live is that of the session: this asks whether the session and the nodes live. */
  extend(): Promise<boolean> {
    if (this.#isReleased) return Promise.resolve(false);
    this.#extension ??= this.#confirm().finally(() => (this.#extension = undefined));
    return this.#extension;
  }

  /** Goes on after its caller has given up, until etcd has answered or the session is lost. */
  async release(): Promise<boolean> {
    if (this.#isReleased) {
      await this.#givenBack;
      return false;
    }
    this.#end();
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
      const areThere = await this.#nodes.confirm(this.#place);
      if (!areThere) this.#gone();
      return areThere;
    });
  }

  /** One node is gone, so the others are of no use. The whole session may be gone: its next heartbeat tells. */
  #gone(): void {
    if (this.#isReleased) return;
    const { session, nodes } = this.#place;
    this.#end();
    this.#life.abort(new Error(`a node of the lock was deleted at etcd: ${nodes.join(', ')}`));
    session.confirm().catch(() => {});
    if (nodes.length > 1) this.#givenBack = this.#nodes.leave(this.#place).catch(() => {});
  }

  #end(): void {
    this.#isReleased = true;
    this.#unwatch();
    this.#life.forget();
    for (const listener of this.#onEnd.splice(0)) listener();
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
