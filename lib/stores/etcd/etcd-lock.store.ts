import { eitherOf } from '../../core/async/abort-signals.js';
import { LockPermitsError } from '../../core/contract/lock-errors.js';
import type {
  AcquireRequest,
  EvictRequest,
  HolderAnswer,
  Lease,
  LockInspection,
  LockListQuery,
  LockPage,
  LockStore,
  NamedHolder,
  StoreNotice,
} from '../../core/contract/lock-store.js';
import { unless } from './client/bounded.js';
import { EtcdEvictions } from './evict/etcd-evictions.js';
import { EtcdKeys } from './keys/etcd-keys.js';
import { EtcdLease } from './lease/etcd-lease.js';
import { hostsOf, resolveEtcdOptions } from './client/etcd-lock-options.js';
import type { EtcdLockStoreOptions, EtcdServers } from './client/etcd-lock-options.js';
import { EtcdMembers } from './client/etcd-members.js';
import { EtcdNodes } from './queue/etcd-nodes.js';
import type { Joined } from './queue/etcd-nodes.js';
import { isOutOfSpace, isRefusal } from './client/etcd-refusal.js';
import { EtcdSessions } from './session/etcd-sessions.js';
import { EtcdWatches } from './queue/etcd-watches.js';
import type { Place } from './queue/node-creation.js';
import { NodeWatch } from './queue/node-watch.js';
import { openClient } from './client/open-client.js';
import type { Position } from './queue/queue-position.js';
import { QueuedLeases } from './lease/queued-leases.js';
import { Evictions } from '../kit/evictions.js';
import { StoreObservers } from '../kit/store-observers.js';

/** A member that has not answered after this part of a session leaves time for two more. */
const ANSWER_PART = 5;
const LONGEST_ANSWER = 2_000;
/** How often a waiter looks again at once, when something else was written before its watch existed. */
const EAGER_LOOKS = 3;

/**
 * Locks on etcd 3.4 or newer. Each contender has a node in the queue of its key. The node with the lowest create revision holds
 * the key, and each waiter watches only the node before its own, as in etcd's own `concurrency` package. Sharers of a key hold
 * together.
 */
export class EtcdLockStore implements LockStore {
  readonly name = 'etcd';
  readonly supports = {
    fencing: true,
    fencingFloor: false,
    ttl: false,
    manyKeys: true,
    queuesManyKeys: true,
    readLocks: true,
    semaphores: true,
  } as const;
  readonly #members: EtcdMembers;
  readonly #sessions: EtcdSessions;
  readonly #nodes: EtcdNodes;
  readonly #evictions: Evictions;
  readonly #watches: EtcdWatches;
  readonly #leaseOf: (place: Place) => EtcdLease;
  readonly #queued: QueuedLeases;
  readonly #observers = new StoreObservers();

  /** Connects when it is first used. Throws `TypeError` or `RangeError` naming a bad option. */
  constructor(servers: EtcdServers, options: EtcdLockStoreOptions = {}) {
    const hosts = hostsOf(servers);
    const { prefix, sessionTimeout, clock } = resolveEtcdOptions(options);
    const timeout = Math.min(LONGEST_ANSWER, Math.floor(sessionTimeout / ANSWER_PART));
    const open = (host: string) => openClient(host, servers, timeout);
    const members = new EtcdMembers(hosts, open, clock, timeout);
    const doubt = (reason: string) => this.#observers.doubt(reason);
    this.#members = members;
    this.#sessions = new EtcdSessions({ members, clock, sessionTimeout, doubt });
    const keys = new EtcdKeys(prefix);
    this.#nodes = new EtcdNodes(members, this.#sessions, keys);
    this.#evictions = new Evictions(new EtcdEvictions(members, keys), this.#observers);
    this.#watches = new EtcdWatches(members, clock, sessionTimeout);
    const asked = (node: Buffer, grace: number) =>
      this.#observers.revokeAny(keys.keyOf(node)!, grace);
    const holders = new NodeWatch(members, this.#nodes, this.#watches, asked);
    this.#leaseOf = (place) => new EtcdLease(place, this.#nodes, holders);
    this.#queued = new QueuedLeases(this.#nodes, this.#leaseOf);
  }

  async tryAcquire(request: AcquireRequest): Promise<Lease | undefined> {
    const own = this.#queued.find(request);
    if (own) return this.#queued.takeOthers(own, request);
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
      const held = await this.#untilHeld(request.key, place, position, signal);
      if (held) return this.#queued.add(request, held);
    }
  }

  inspect(key: string): Promise<LockInspection | undefined> {
    return this.#nodes.inspect(key);
  }

  /** In the order of the keys, encoded as in a URL. */
  list(query: LockListQuery): Promise<LockPage> {
    return this.#nodes.list(query);
  }

  askHolder(named: NamedHolder, grace: number): Promise<HolderAnswer> {
    return this.#evictions.ask(named, grace);
  }

  evict(request: EvictRequest): Promise<HolderAnswer> {
    return this.#evictions.take(request);
  }

  /** Reports when etcd does not answer, and evictions. */
  observe(tell: (notice: StoreNotice) => void): void {
    this.#observers.add(tell);
  }

  /** Revokes the session, and with it all held locks and waiting nodes. */
  async close(): Promise<void> {
    await this.#sessions.close();
    await this.#members.close();
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

  /** Resolves with the place once it holds the key, `undefined` when the place itself is gone. */
  async #untilHeld(
    key: string,
    place: Place,
    position: Position,
    signal: AbortSignal,
  ): Promise<Place | undefined> {
    if (position.state !== 'waits') return position.state === 'holds' ? place : undefined;
    const { lost } = place.session;
    const over = eitherOf(signal, lost);
    try {
      return await this.#untilItHolds(key, place, position, over.signal);
    } catch (error) {
      const isLost = lost.aborted;
      if (!isLost) await this.#members.isInTime(this.#nodes.leave(place));
      if (isLost && !signal.aborted) return undefined;
      throw signal.aborted ? signal.reason : error;
    } finally {
      over.forget();
    }
  }

  /** The awaited change has happened, but perhaps not to a holder: only a look tells where the place is now. */
  async #untilItHolds(
    key: string,
    place: Place,
    first: Position,
    signal: AbortSignal,
  ): Promise<Place | undefined> {
    let eager = EAGER_LOOKS;
    let position: Position & { readonly at?: bigint } = first;
    while (position.state === 'waits') {
      const { awaits } = position;
      const isEager = eager-- > 0;
      const happened = await this.#watches.happened(awaits, signal, isEager).catch(() => false);
      position = await this.#nodes.look(key, place, signal);
      if (position.state !== 'waits') break;
      if (!position.awaits.key.equals(awaits.key)) eager = EAGER_LOOKS;
      else if (!isEager && !happened) await this.#members.pause(signal); // woken for nothing, perhaps again and again
    }
    if (position.state === 'gone') return undefined;
    if (position.tells) this.#nodes.tellNext(place);
    return { ...place, token: position.at ?? place.token };
  }
}
