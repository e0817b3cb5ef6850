import { randomUUID } from 'node:crypto';
import type {
  AcquireRequest,
  Lease,
  LockInspection,
  LockStore,
  LockStoreFeatures,
  NodeCount,
  QuorumReport,
  StoreNotice,
  StoreWarning,
} from '../../core/contract/lock-store.js';
import { StoreUse } from '../../core/store/store-use.js';
import { QueueNodes } from './claim/queue-nodes.js';
import { take } from './claim/claim.js';
import { RedlockList } from './list/redlock-list.js';
import { countNodes, inspectAll } from './vote/inspect-all.js';
import type { LeaseContext } from './lease/lease-context.js';
import { NodeLeases } from './claim/node-leases.js';
import { QueuedLeases } from './lease/queued-leases.js';
import { Quorum } from './vote/quorum.js';
import { RedlockLease } from './lease/redlock-lease.js';
import { canEvict, onlyRevocations, RedlockEvictions } from './evict/redlock-evictions.js';
import { featuresOf } from './node/redlock-features.js';
import { joinedNode } from './node/redlock-node.js';
import { checkNodes, resolveRedlockOptions, warnOfFew } from './node/redlock-options.js';
import type { RedlockStoreOptions } from './node/redlock-options.js';
import { QuarantineMonitor } from './vote/quarantine-monitor.js';
import { StoreObservers } from '../kit/store-observers.js';

/**
 * One lock over several independent nodes: held while a majority of them grants it. List the nodes in the same order in every
 * process: callers then wait at the same node.
 *
 * The stores are closed with this one. The caller keeps their clients.
 */
export class RedlockStore implements LockStore {
  readonly name = 'redlock';
  readonly supports: LockStoreFeatures;
  /** Queues at one node. Missing if no node has a queue. */
  readonly acquire?: (request: AcquireRequest, signal: AbortSignal) => Promise<Lease>;
  /** Missing if a node cannot list. */
  readonly list?: NonNullable<LockStore['list']>;
  /** Missing if a node cannot evict. */
  readonly askHolder?: NonNullable<LockStore['askHolder']>;
  readonly evict?: NonNullable<LockStore['evict']>;
  readonly #quorum: Quorum;
  readonly #context: LeaseContext;
  readonly #monitor: QuarantineMonitor;
  /** Other stores may use the nodes, too. */
  readonly #uses: readonly StoreUse[];
  readonly #queued = new QueuedLeases((request, asked) => this.#take(request, asked));
  readonly #failed = new WeakSet<AcquireRequest>();
  readonly #observers = new StoreObservers();

  constructor(stores: readonly LockStore[], options: RedlockStoreOptions = {}) {
    checkNodes(stores);
    const { clock, nodeTimeout, quarantine, largestTtl } = resolveRedlockOptions(options);
    const tell = (notice: StoreNotice) => this.#observers.tell(notice);
    const nodes = stores.map((store, index) => joinedNode(store, index, clock, tell));
    this.#uses = stores.map((store) => new StoreUse(store, onlyRevocations(tell)));
    this.#quorum = new Quorum(nodes, clock, nodeTimeout);
    this.#monitor = new QuarantineMonitor(nodes, { clock, mode: quarantine, largestTtl });
    this.#context = {
      quorum: this.#quorum,
      queueNodes: new QueueNodes(this.#quorum),
      used: (ttl) => this.#monitor.used(ttl),
    };
    this.supports = featuresOf(stores, this.#quorum.fences);
    if (stores.every(canEvict)) {
      const evictions = new RedlockEvictions(this.#quorum, (own) => this.#take(own, own));
      this.askHolder = (...asked) => this.#monitor.whenOpen(() => evictions.ask(...asked));
      this.evict = (asked) => this.#monitor.whenOpen(() => evictions.take(asked));
    }
    const list = RedlockList.of(this.#quorum);
    if (list) this.list = (query) => this.#monitor.whenOpen(() => list.page(query));
    if (stores.some((store) => typeof store.acquire === 'function')) {
      this.acquire = (request, signal) => this.#wait(request, signal);
    }
    warnOfFew(stores.length);
  }

  async tryAcquire(request: AcquireRequest): Promise<Lease | undefined> {
    if (!this.#monitor.isOpen) await this.#monitor.opened();
    const own = this.#queued.find(request);
    if (own) return this.#queued.takeOthers(own, request);
    const lease = await this.#take(this.#attempt(request), request);
    if (lease) this.#failed.delete(request);
    return lease;
  }

  /** Rejects when too few nodes answer. Resolves `undefined` when no holder has a majority. */
  inspect(key: string): Promise<LockInspection | undefined> {
    return this.#monitor.whenOpen(() => inspectAll(this.#quorum, key));
  }

  report(request: AcquireRequest): QuorumReport | undefined {
    return this.#quorum.report(request);
  }

  observe(tell: (notice: StoreNotice) => void): void {
    this.#observers.add(tell);
  }

  countNodes(): Promise<NodeCount> {
    return this.#monitor.whenOpen(() => countNodes(this.#quorum));
  }

  readonly nodes = () => this.#quorum.nodes.map(({ name, state }) => ({ node: name, state }));

  checkServers(tell: (warning: StoreWarning) => void): void {
    for (const { store } of this.#quorum.nodes) store.checkServers?.(tell);
  }

  async close(): Promise<void> {
    this.#monitor.close();
    await Promise.all(this.#uses.map((use) => use.close()));
  }

  async #take(request: AcquireRequest, asked: AcquireRequest): Promise<RedlockLease | undefined> {
    this.#monitor.used(request.ttl);
    const leases = new NodeLeases();
    const claim = { asked, request, isPatient: false };
    const token = await take(this.#quorum, claim, leases);
    if (token === undefined) return undefined;
    return new RedlockLease(claim, leases, this.#context, { own: token, last: token });
  }

  async #wait(asked: AcquireRequest, signal: AbortSignal): Promise<Lease> {
    this.#monitor.used(asked.ttl);
    const stopWaiting = this.#monitor.waiting();
    try {
      const { node, lease, request } = await this.#context.queueNodes.wait(asked, signal);
      const leases = new NodeLeases();
      leases.set(node, lease);
      const claimed = new RedlockLease({ asked, request, isPatient: true }, leases, this.#context);
      return this.#queued.add(asked, claimed, leases);
    } finally {
      stopWaiting();
    }
  }

  /** With a new token after a failed attempt: a late release of that attempt must not free the keys of this one. */
  #attempt(request: AcquireRequest): AcquireRequest {
    const isRepeated = this.#failed.has(request);
    this.#failed.add(request); // until it has succeeded
    return isRepeated ? { ...request, token: randomUUID() } : request;
  }
}
