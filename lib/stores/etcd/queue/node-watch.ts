import { setMaxListeners } from 'node:events';
import { eitherOf } from '../../../core/async/abort-signals.js';
import type { Cancel } from '../../../core/async/clock.js';
import { WATCH_AFTER } from '../../kit/watch-delay.js';
import type { EtcdMembers } from '../client/etcd-members.js';
import type { EtcdNodes } from './etcd-nodes.js';
import type { EtcdWatches } from './etcd-watches.js';
import type { Place } from './node-creation.js';
import { readValue } from './node-value.js';

/** An eviction asks the holder of a node to stop within `grace` ms. */
type Asked = (node: Buffer, grace: number) => void;

/**
 * Tells holders at once when one of their nodes is gone, deleted by a client, or by etcd with its lease, and when an eviction has
 * written to it.
 */
export class NodeWatch {
  readonly #members: EtcdMembers;
  readonly #nodes: EtcdNodes;
  readonly #watches: EtcdWatches;
  readonly #asked: Asked;

  constructor(members: EtcdMembers, nodes: EtcdNodes, watches: EtcdWatches, asked: Asked) {
    this.#members = members;
    this.#nodes = nodes;
    this.#watches = watches;
    this.#asked = asked;
  }

  /** Calls `gone` when a node is gone, perhaps once for each. Calling the result ends the watch. */
  start(place: Place, gone: () => void): Cancel {
    const { session, nodes } = place;
    const over = eitherOf(session.lost);
    setMaxListeners(0, over.signal); // one for each node
    const cancel = session.later(WATCH_AFTER, () => {
      for (const node of nodes) void this.#watch(place, node, over.signal, gone);
    });
    return () => {
      cancel();
      over.abort(new Error('the lock was released'));
      over.forget();
    };
  }

  /** Never rejects. A watch that ends begins anew after the revision at which the nodes were last seen. */
  async #watch(place: Place, key: Buffer, over: AbortSignal, gone: () => void): Promise<void> {
    try {
      for (let seen = place.revision; ;) {
        const awaited = { key, from: String(seen + 1n), until: 'changed' } as const;
        const isTold = await this.#watches.happened(awaited, over, false).catch(() => false);
        const now = await this.#nodes.seenAt(place, over, key);
        if (over.aborted) return;
        if (!now) return gone();
        seen = now.at;
        const { grace } = now.node ? readValue(now.node.value) : {};
        if (grace !== undefined) this.#asked(key, grace);
        if (!isTold) await this.#members.pause(over);
      }
    } catch {
      // ended by `over`, or with the store
    }
  }
}
