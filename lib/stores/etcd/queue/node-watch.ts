import { setMaxListeners } from 'node:events';
import { eitherOf } from '../../../core/async/abort-signals.js';
import type { Cancel } from '../../../core/async/clock.js';
import { WATCH_AFTER } from '../../../core/store/watch-delay.js';
import type { EtcdMembers } from '../client/etcd-members.js';
import type { EtcdNodes } from './etcd-nodes.js';
import type { EtcdWatches } from './etcd-watches.js';
import type { Place } from './node-creation.js';

/** Tells holders at once when one of their nodes is gone: deleted by a client, or by etcd with its lease. */
export class NodeWatch {
  readonly #members: EtcdMembers;
  readonly #nodes: EtcdNodes;
  readonly #watches: EtcdWatches;

  constructor(members: EtcdMembers, nodes: EtcdNodes, watches: EtcdWatches) {
    this.#members = members;
    this.#nodes = nodes;
    this.#watches = watches;
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
        const awaited = { key, from: String(seen + 1n), until: 'gone' } as const;
        const isTold = await this.#watches.happened(awaited, over, false).catch(() => false);
        const revision = await this.#nodes.seenAt(place, over);
        if (over.aborted) return;
        if (revision === undefined) return gone();
        seen = revision;
        if (!isTold) await this.#members.pause(over);
      }
    } catch {
      // ended by `over`, or with the store
    }
  }
}
