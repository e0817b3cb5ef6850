import { randomUUID } from 'node:crypto';
import type { AcquireRequest, Lease } from '../../../core/contract/lock-store.js';
import { combine } from '../../../core/store/combined-lease.js';
import type { NodeLeases } from '../claim/node-leases.js';
import type { RedlockLease } from './redlock-lease.js';

/** A lease of one key, whose holder waited for it. */
interface QueuedLease {
  readonly key: string;
  readonly lease: RedlockLease;
}

/** One attempt for the keys of `request`. Reports name `asked`. */
type Take = (request: AcquireRequest, asked: AcquireRequest) => Promise<RedlockLease | undefined>;

/**
 * Leases whose holders waited for them, by owner token. A waiter for several keys gets one of them from its queue, then takes the
 * others.
 */
export class QueuedLeases {
  readonly #take: Take;
  readonly #leases = new Map<string, QueuedLease>();

  constructor(take: Take) {
    this.#take = take;
  }

  /** Remembers the lease until it has ended. */
  add({ key, token }: AcquireRequest, lease: RedlockLease, atNodes: NodeLeases): Lease {
    this.#leases.set(token, { key, lease });
    atNodes.onEnd(() => this.#leases.delete(token));
    return lease;
  }

  /** The lease of one of these keys that a request with the same owner token has. */
  find({ keys, token }: AcquireRequest): QueuedLease | undefined {
    const found = this.#leases.get(token);
    return found && keys.includes(found.key) ? found : undefined;
  }

  /**
   * One attempt for the other keys. The lease that it resolves with has all of them. Its token is no smaller than that of the
   * first lease: the counters of the others are raised to it.
   */
  async takeOthers({ key, lease }: QueuedLease, asked: AcquireRequest): Promise<Lease | undefined> {
    const keys = asked.keys.filter((each) => each !== key);
    if (keys.length === 0) return (await lease.renew(asked)) ? lease : undefined;
    const { fencingToken: fencingFloor } = lease;
    const rest = { ...asked, key: keys[0]!, keys, token: randomUUID() };
    const others = await this.#take(fencingFloor ? { ...rest, fencingFloor } : rest, asked);
    if (!others) return undefined;
    const { fencingToken } = others;
    try {
      const isOurs = await lease.renew(
        fencingToken ? { ...asked, fencingFloor: fencingToken } : asked,
      );
      if (isOurs) return combine([lease, others], fencingToken);
    } catch (error) {
      giveBack(others);
      throw error;
    }
    giveBack(others);
    return undefined;
  }
}

/** If it fails, the ttl frees the keys. */
function giveBack(lease: Lease): void {
  lease.release().catch(() => {});
}
