import type { AcquireRequest, Lease } from '../../../core/contract/lock-store.js';
import { combine } from '../../../core/store/combined-lease.js';
import type { EtcdLease } from './etcd-lease.js';
import type { EtcdNodes } from '../queue/etcd-nodes.js';
import type { Place } from '../queue/node-creation.js';
import { isShared } from '../../../core/sharing/hold-mode.js';

/** A lease of one key, which came from its queue. */
interface QueuedLease {
  readonly key: string;
  readonly place: Place;
  readonly lease: EtcdLease;
}

/**
 * Leases that came from a queue, by owner token. A waiter for several keys gets one of them from its queue, then takes the
 * others.
 */
export class QueuedLeases {
  readonly #nodes: EtcdNodes;
  readonly #leaseOf: (place: Place) => EtcdLease;
  readonly #leases = new Map<string, QueuedLease>();

  constructor(nodes: EtcdNodes, leaseOf: (place: Place) => EtcdLease) {
    this.#nodes = nodes;
    this.#leaseOf = leaseOf;
  }

  /** Remembers the lease until it has ended. */
  add({ key, token }: AcquireRequest, place: Place): Lease {
    const lease = this.#leaseOf(place);
    this.#leases.set(token, { key, place, lease });
    const forget = () => this.#leases.delete(token);
    lease.onEnd(forget);
    lease.lost.addEventListener('abort', forget, { once: true });
    return lease;
  }

  /** The lease of one of these keys that a request with the same owner token has. */
  find({ keys, token }: AcquireRequest): QueuedLease | undefined {
    const found = this.#leases.get(token);
    const isMeant = found && keys.length > 1 && keys.includes(found.key);
    return isMeant && !found.lease.lost.aborted ? found : undefined;
  }

  /** One attempt for the other keys. The lease that it resolves with has all of them. */
  async takeOthers(own: QueuedLease, request: AcquireRequest): Promise<Lease | undefined> {
    const keys = request.keys.filter((key) => key !== own.key);
    const place = await this.#nodes.take({ ...request, key: keys[0]!, keys });
    if (!place) return undefined;
    const others = this.#leaseOf(place);
    try {
      const seen = await this.#nodes.seenAt(own.place, own.lease.lost);
      if (!seen) throw new Error(`${own.place.nodes.join(', ')} was deleted at etcd`);
      return combine([own.lease, others], isShared(request.permits) ? undefined : seen.at);
    } catch (error) {
      others.release().catch(() => {}); // etcd is asked until it is done
      throw error;
    }
  }
}
