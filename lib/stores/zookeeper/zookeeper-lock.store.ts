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
import { HeldNodes, leaseOfBoth } from './lease/held-nodes.js';
import type { Connection } from './client/connection.js';
import { inspectQueue } from './nodes/inspection.js';
import { listQueues } from './nodes/list-queues.js';
import type { KeyNodes } from './names/key-nodes.js';
import { LockNodes } from './nodes/lock-nodes.js';
import { planOf } from './nodes/node-creation.js';
import { ZooKeeperEvictions } from './evict/zookeeper-evictions.js';
import type { ConnectLimits, Session } from './session/session.js';
import { Sessions } from './session/sessions.js';
import { ZooKeeperLease } from './lease/zookeeper-lease.js';
import { checkServers, resolveZooKeeperOptions } from './client/zookeeper-options.js';
import type { ZooKeeperLockStoreOptions } from './client/zookeeper-options.js';
import { Evictions } from '../kit/evictions.js';
import { StoreObservers } from '../kit/store-observers.js';
import { isShared } from '../../core/sharing/hold-mode.js';

/**
 * Locks on ZooKeeper 3.5.3 or newer, by the recipe of its documentation. Each request has an ephemeral node, numbered by the
 * server. The lowest node holds the lock, and each other one watches the node before it. Sharers of a key hold together. One
 * transaction makes the nodes of several keys. A lock lives as long as the session of its process.
 *
 * `servers` is `'host:2181,host:2181'`. The store opens sessions of its own, the first one when it is first used, and a new one
 * after each that has ended. The client is `node-zookeeper-client`: the native one (`zookeeper`) has to be compiled on Linux,
 * prints to the standard output, and does not recover from an expiry either.
 */
export class ZooKeeperLockStore implements LockStore {
  readonly name = 'zookeeper';
  readonly supports = {
    fencing: true,
    fencingFloor: false,
    ttl: false,
    manyKeys: true,
    queuesManyKeys: true,
    readLocks: true,
    semaphores: true,
  } as const;
  readonly #sessions: Sessions;
  readonly #connectTimeout: number;
  readonly #observers = new StoreObservers();
  readonly #held = new HeldNodes((key, grace) => this.#observers.revokeAny(key, grace));
  readonly #evictions: Evictions;

  /** Throws `TypeError` or `RangeError` naming the option. */
  constructor(servers: string, options: ZooKeeperLockStoreOptions = {}) {
    checkServers(servers);
    const resolved = resolveZooKeeperOptions(options);
    this.#connectTimeout = resolved.connectTimeout;
    this.#sessions = new Sessions(servers, resolved, (reason) => this.#observers.doubt(reason));
    const steps = new ZooKeeperEvictions(this.#sessions, resolved.connectTimeout);
    this.#evictions = new Evictions(steps, this.#observers);
  }

  tryAcquire(request: AcquireRequest): Promise<Lease | undefined> {
    return this.#sessions.use(async (session, keyNodes) => {
      const known = this.#held.find(request);
      if (await known?.isThere()) return new ZooKeeperLease(known!);
      const own = this.#held.findOne(request);
      const keys = request.keys.filter((key) => key !== own?.key);
      const wanted = own ? { ...request, key: keys[0]!, keys } : request;
      const nodes = await this.#enqueue(session, keyNodes, wanted, {}, (each) => each.doHold());
      if (!nodes || !own) return nodes && new ZooKeeperLease(nodes);
      return leaseOfBoth(session, own.nodes, nodes, isShared(request.permits));
    });
  }

  async acquire(request: AcquireRequest, signal: AbortSignal): Promise<Lease> {
    const nodes = await this.#sessions.use((session, keyNodes) =>
      this.#enqueue(session, keyNodes, request, { signal }, async (each) => {
        await each.untilTheyHold(signal);
        return true;
      }),
    );
    return new ZooKeeperLease(nodes!);
  }

  /** The holders of the key. Costs a write, so that no server answers with old data. */
  inspect(key: string): Promise<LockInspection | undefined> {
    return this.#read((connection, keyNodes) =>
      inspectQueue(connection, key, keyNodes.pathOf(key)),
    );
  }

  /** Costs a write, as `inspect`, and then a read of all keys, and a few for each key of the page. */
  list(query: LockListQuery): Promise<LockPage> {
    return this.#read((connection, keyNodes) => listQueues(connection, keyNodes, query));
  }

  askHolder(named: NamedHolder, grace: number): Promise<HolderAnswer> {
    return this.#evictions.ask(named, grace);
  }

  evict(request: EvictRequest): Promise<HolderAnswer> {
    return this.#evictions.take(request);
  }

  observe(tell: (notice: StoreNotice) => void): void {
    this.#observers.add(tell);
  }

  /** Ends the session: the server frees all locks that are still held. */
  close(): Promise<void> {
    return this.#sessions.close();
  }

  #read<T>(read: (connection: Connection, keyNodes: KeyNodes) => Promise<T>): Promise<T> {
    const patience = { within: this.#connectTimeout };
    return this.#sessions.use((session, keyNodes) =>
      session.retry(async (connection) => {
        await connection.check([keyNodes.root]);
        return read(connection, keyNodes);
      }, patience),
    );
  }

  /** Queues until `wait` says whether the lock is held. Leaves nothing behind when it is not, and when it rejects. */
  async #enqueue(
    session: Session,
    keyNodes: KeyNodes,
    request: AcquireRequest,
    { signal }: ConnectLimits,
    wait: (nodes: LockNodes) => Promise<boolean>,
  ): Promise<LockNodes | undefined> {
    const plan = planOf(keyNodes, request);
    const patience = { within: this.#connectTimeout, signal };
    const nodes = await LockNodes.enter(keyNodes, session, plan, patience);
    try {
      const holds = await wait(nodes);
      if (holds && !nodes.isOurs) throw nodes.goneError();
      if (holds) return this.#held.add(request, nodes);
      await nodes.leave();
      return undefined;
    } catch (error) {
      await nodes.leave().catch(() => {}); // the earlier failure is the one to report
      throw signal?.aborted ? signal.reason : error;
    }
  }
}
