import { eitherOf } from '../../core/abort-signals.js';
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
import type { Joined, Place, Predecessor } from './etcd-nodes.js';
import { isOutOfSpace, isRefusal } from './etcd-refusal.js';
import { EtcdSessions } from './etcd-sessions.js';
import { EtcdWatches } from './etcd-watches.js';
import { openClient } from './open-client.js';

/** A member that has not answered after this part of a session leaves time for two more. */
const ANSWER_PART = 5;
const LONGEST_ANSWER = 2_000;
/** So often a waiter looks again at once, when something else was written before its watch was there. */
const EAGER_LOOKS = 3;

/**
 * Locks on etcd 3.4 or newer. Whoever wants a key has a node in its queue, the one with the lowest create revision holds it, and
 * each waiter watches only the node before its own, as in etcd's own `concurrency` package.
 */
export class EtcdLockStore implements LockStore {
  readonly name = 'etcd';
  readonly supports = { fencing: true, fencingFloor: false, ttl: false, manyKeys: true } as const;
  readonly #members: EtcdMembers;
  readonly #sessions: EtcdSessions;
  readonly #nodes: EtcdNodes;
  readonly #watches: EtcdWatches;
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
  }

  async tryAcquire(request: AcquireRequest): Promise<Lease | undefined> {
    const place = await this.#nodes.take(request);
    return place && new EtcdLease(place, this.#nodes);
  }

  /** Waits until the key is granted or `signal` aborts, also while etcd is away. Rejects when etcd refuses. */
  async acquire(request: AcquireRequest, signal: AbortSignal): Promise<Lease> {
    for (;;) {
      const { place, predecessor } = await this.#join(request, signal);
      if (await this.#isFirst(request.key, place, predecessor, signal))
        return new EtcdLease(place, this.#nodes);
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

  /** Resolves `true` when nobody stands before the place any more, `false` when the place itself is gone. */
  async #isFirst(
    key: string,
    place: Place,
    predecessor: Predecessor | undefined,
    signal: AbortSignal,
  ): Promise<boolean> {
    if (!predecessor) return true;
    const { lost } = place.session;
    const over = eitherOf(signal, lost);
    try {
      return await this.#afterAll(key, place, predecessor, over.signal);
    } catch (error) {
      const isLost = lost.aborted;
      if (!isLost) await this.#members.isInTime(this.#nodes.leave(place));
      if (isLost && !signal.aborted) return false;
      throw signal.aborted ? signal.reason : error;
    } finally {
      over.forget();
    }
  }

  /** One that has gone may have been a waiter: only a look tells who stands before the place now. */
  async #afterAll(
    key: string,
    place: Place,
    first: Predecessor,
    signal: AbortSignal,
  ): Promise<boolean> {
    let eager = EAGER_LOOKS;
    for (let predecessor = first; ;) {
      const { key: before, from } = predecessor;
      const isEager = eager-- > 0;
      await this.#watches.deleted(before, from, signal, isEager).catch(() => undefined);
      const now = await this.#nodes.look(key, place, signal);
      if (now === 'gone') return false;
      if (!now) return true;
      if (!now.key.equals(before)) eager = EAGER_LOOKS;
      else if (!isEager) await this.#members.pause(signal); // woken for nothing, perhaps again and again
      predecessor = now;
    }
  }
}
