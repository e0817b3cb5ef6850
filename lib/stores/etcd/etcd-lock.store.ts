import { eitherOf } from '../../core/abort-signals.js';
import { LockPermitsError } from '../../core/lock-errors.js';
import type {
  AcquireRequest,
  Lease,
  LockInspection,
  LockStore,
  StoreNotice,
} from '../../core/lock-store.js';
import { unless } from './bounded.js';
import { EtcdKeys } from './etcd-keys.js';
import { EtcdLease } from './etcd-lease.js';
import { hostsOf, resolveEtcdOptions } from './etcd-lock-options.js';
import type { EtcdLockStoreOptions, EtcdServers } from './etcd-lock-options.js';
import { EtcdMembers } from './etcd-members.js';
import { EtcdNodes } from './etcd-nodes.js';
import type { Joined } from './etcd-nodes.js';
import { isOutOfSpace, isRefusal } from './etcd-refusal.js';
import { EtcdSessions } from './etcd-sessions.js';
import { EtcdWatches } from './etcd-watches.js';
import type { Place } from './node-creation.js';
import { NodeWatch } from './node-watch.js';
import { openClient } from './open-client.js';
import type { Position } from './queue-position.js';

/** A member that has not answered after this part of a session leaves time for two more. */
const ANSWER_PART = 5;
const LONGEST_ANSWER = 2_000;
/** So often a waiter looks again at once, when something else was written before its watch was there. */
const EAGER_LOOKS = 3;

/**
 * Locks on etcd 3.4 or newer. Whoever wants a key has a node in its queue, the one with the lowest create revision holds it, and
 * each waiter watches only the node before its own, as in etcd's own `concurrency` package. Those who share a key hold together.
 */
export class EtcdLockStore implements LockStore {
  readonly name = 'etcd';
  readonly supports = {
    fencing: true,
    fencingFloor: false,
    ttl: false,
    manyKeys: true,
    readLocks: true,
    semaphores: true,
  } as const;
  readonly #members: EtcdMembers;
  readonly #sessions: EtcdSessions;
  readonly #nodes: EtcdNodes;
  readonly #watches: EtcdWatches;
  readonly #holders: NodeWatch;
  readonly #observers: ((notice: StoreNotice) => void)[] = [];

  /** Connects when it is first used. Throws `TypeError` or `RangeError` naming a bad option. */
  constructor(servers: EtcdServers, options: EtcdLockStoreOptions = {}) {
    const hosts = hostsOf(servers);
    const { prefix, sessionTimeout, clock } = resolveEtcdOptions(options);
    const timeout = Math.min(LONGEST_ANSWER, Math.floor(sessionTimeout / ANSWER_PART));
    const open = (host: string) => openClient(host, servers, timeout);
    const members = new EtcdMembers(hosts, open, clock, timeout);
    const doubt = (reason: string) =>
      this.#observers.forEach((tell) => tell({ type: 'doubt', reason }));
    this.#members = members;
    this.#sessions = new EtcdSessions({ members, clock, sessionTimeout, doubt });
    this.#nodes = new EtcdNodes(members, this.#sessions, new EtcdKeys(prefix));
    this.#watches = new EtcdWatches(members, clock, sessionTimeout);
    this.#holders = new NodeWatch(members, this.#nodes, this.#watches);
  }

  async tryAcquire(request: AcquireRequest): Promise<Lease | undefined> {
    const place = await this.#nodes.take(request);
    return place && this.#leaseOf(place);
  }

  /** Waits until the key is granted or `signal` aborts, also while etcd is away. Rejects when etcd refuses. */
  async acquire(request: AcquireRequest, signal: AbortSignal): Promise<Lease> {
    for (;;) {
      const { place, position, inUse } = await this.#join(request, signal);
      if (inUse !== undefined) {
        await this.#members.isInTime(this.#nodes.leave(place));
        throw new LockPermitsError(request.key, request.permits!, inUse);
      }
      if (await this.#doesHold(request.key, place, position, signal)) return this.#leaseOf(place);
    }
  }

  inspect(key: string): Promise<LockInspection | undefined> {
    return this.#nodes.inspect(key);
  }

  /** Tells when etcd does not answer. */
  observe(tell: (notice: StoreNotice) => void): void {
    this.#observers.push(tell);
  }

  /** Gives the session back, and with it all that is still held or waited for. */
  async close(): Promise<void> {
    await this.#sessions.close();
    await this.#members.close();
  }

  #leaseOf(place: Place): Lease {
    return new EtcdLease(place, this.#nodes, this.#holders);
  }

  async #join(request: AcquireRequest, signal: AbortSignal): Promise<Joined> {
    for (;;) {
      signal.throwIfAborted();
      const joining = this.#nodes.join(request);
      try {
        return await unless(signal, joining);
      } catch (error) {
        if (signal.aborted) {
          await this.#members.isInTime(joining.then(({ place }) => this.#nodes.leave(place)));
          throw signal.reason;
        }
        if (isRefusal(error) || isOutOfSpace(error) || this.#members.isClosed) throw error;
        await this.#members.pause(signal);
      }
    }
  }

  /** Resolves `true` when the place holds the key, `false` when the place itself is gone. */
  async #doesHold(
    key: string,
    place: Place,
    position: Position,
    signal: AbortSignal,
  ): Promise<boolean> {
    if (position.state !== 'waits') return position.state === 'holds';
    const { lost } = place.session;
    const over = eitherOf(signal, lost);
    try {
      return await this.#untilItHolds(key, place, position, over.signal);
    } catch (error) {
      const isLost = lost.aborted;
      if (!isLost) await this.#members.isInTime(this.#nodes.leave(place));
      if (isLost && !signal.aborted) return false;
      throw signal.aborted ? signal.reason : error;
    } finally {
      over.forget();
    }
  }

  /** What was awaited has happened, but perhaps not to a holder: only a look tells where the place is now. */
  async #untilItHolds(
    key: string,
    place: Place,
    first: Position,
    signal: AbortSignal,
  ): Promise<boolean> {
    let eager = EAGER_LOOKS;
    let position = first;
    while (position.state === 'waits') {
      const { awaits } = position;
      const isEager = eager-- > 0;
      const happened = await this.#watches.happened(awaits, signal, isEager).catch(() => false);
      position = await this.#nodes.look(key, place, signal);
      if (position.state !== 'waits') break;
      if (!position.awaits.key.equals(awaits.key)) eager = EAGER_LOOKS;
      else if (!isEager && !happened) await this.#members.pause(signal); // woken for nothing, perhaps again and again
    }
    if (position.state === 'holds' && position.tells) this.#nodes.tellNext(place);
    return position.state === 'holds';
  }
}
