import { randomUUID } from 'node:crypto';
import { warn } from '../../core/async/warn.js';
import type {
  AcquireRequest,
  Lease,
  LockInspection,
  LockStore,
  LockStoreFeatures,
  QuorumReport,
  StoreNotice,
} from '../../core/lock-store.js';
import { StoreUse } from '../../core/store/store-use.js';
import { Arbiters } from './arbiters.js';
import { take } from './claim.js';
import { inspectAll } from './inspect-all.js';
import { NodeLeases } from './node-leases.js';
import { Quorum } from './quorum.js';
import { RedlockLease } from './redlock-lease.js';
import type { LeaseSurroundings } from './redlock-lease.js';
import { RedlockNode } from './redlock-node.js';
import { checkNodes, resolveRedlockOptions } from './redlock-options.js';
import type { RedlockStoreOptions } from './redlock-options.js';
import { Registrar } from './registrar.js';

/** With fewer nodes, the loss of one is the loss of all locks. */
const FEWEST_NODES = 3;
const CANNOT_COUNT =
  'a majority cannot count holders: each of two callers may be among the first three at other nodes';

/**
 * One lock over several independent nodes: held where a majority of them granted it. Lists the nodes in the same order in
 * every process: callers then wait at the same one.
 *
 * The stores are closed with this one; their clients stay the caller's.
 */
export class RedlockStore implements LockStore {
  readonly name = 'redlock';
  readonly supports: LockStoreFeatures;
  /** Stands in line at one node. Missing where no node has a queue. */
  readonly acquire?: (request: AcquireRequest, signal: AbortSignal) => Promise<Lease>;
  readonly #quorum: Quorum;
  readonly #around: LeaseSurroundings;
  readonly #registrar: Registrar;
  /** The nodes may be used by others, too. */
  readonly #uses: readonly StoreUse[];
  readonly #failed = new WeakSet<AcquireRequest>();
  readonly #observers: ((notice: StoreNotice) => void)[] = [];

  constructor(stores: readonly LockStore[], options: RedlockStoreOptions = {}) {
    checkNodes(stores);
    const { clock, nodeTimeout, quarantine, largestTtl } = resolveRedlockOptions(options);
    const tell = (notice: StoreNotice) => this.#observers.forEach((observer) => observer(notice));
    const nodes = stores.map((store, index) => {
      store.amongOthers?.();
      const { address = `${store.name} ${index + 1}` } = store.server ?? {};
      return new RedlockNode(address, store, clock, tell);
    });
    this.#uses = stores.map((store) => new StoreUse(store));
    this.#quorum = new Quorum(nodes, clock, nodeTimeout);
    this.#registrar = new Registrar(nodes, { clock, mode: quarantine, largestTtl });
    this.#around = {
      quorum: this.#quorum,
      arbiters: new Arbiters(this.#quorum),
      used: (ttl) => this.#registrar.used(ttl),
    };
    this.supports = {
      fencing: this.#quorum.fences,
      ttl: true,
      manyKeys: stores.every(({ supports }) => supports.manyKeys === true),
      cannotCount: CANNOT_COUNT,
    };
    if (stores.some((store) => typeof store.acquire === 'function')) {
      this.acquire = (request, signal) => this.#wait(request, signal);
    }
    warnOfFew(stores.length);
  }

  async tryAcquire(request: AcquireRequest): Promise<Lease | undefined> {
    if (!this.#registrar.isOpen) await this.#registrar.opened();
    this.#registrar.used(request.ttl);
    const leases = new NodeLeases();
    const claim = { asked: request, request: this.#attempt(request), isPatient: false };
    const token = await take(this.#quorum, claim, leases);
    if (token === undefined) return undefined;
    this.#failed.delete(request);
    return new RedlockLease(claim, leases, this.#around, { own: token, last: token });
  }

  /** Rejects when too few nodes answer. Resolves `undefined` when no holder has a majority. */
  async inspect(key: string): Promise<LockInspection | undefined> {
    if (!this.#registrar.isOpen) await this.#registrar.opened();
    return inspectAll(this.#quorum, key);
  }

  report(request: AcquireRequest): QuorumReport | undefined {
    return this.#quorum.report(request);
  }

  observe(tell: (notice: StoreNotice) => void): void {
    this.#observers.push(tell);
  }

  async close(): Promise<void> {
    this.#registrar.close();
    await Promise.all(this.#uses.map((use) => use.close()));
  }

  async #wait(asked: AcquireRequest, signal: AbortSignal): Promise<Lease> {
    this.#registrar.used(asked.ttl);
    const stopWaiting = this.#registrar.waiting();
    try {
      const { node, lease, request } = await this.#around.arbiters.wait(asked, signal);
      const leases = new NodeLeases();
      leases.set(node, lease);
      return new RedlockLease({ asked, request, isPatient: true }, leases, this.#around);
    } finally {
      stopWaiting();
    }
  }

  /** With a new token after an attempt that failed: what that one gives back late must not free what this one takes. */
  #attempt(request: AcquireRequest): AcquireRequest {
    const isRepeated = this.#failed.has(request);
    this.#failed.add(request); // until it has succeeded
    return isRepeated ? { ...request, token: randomUUID() } : request;
  }
}

function warnOfFew(count: number): void {
  if (count >= FEWEST_NODES) return;
  warn(
    `RedlockStore over ${count} node${count === 1 ? '' : 's'}: no lock can be taken or extended once one of them is down. ` +
      `Redlock protects against the loss of nodes from ${FEWEST_NODES} on`,
    'HOLDFAST_REDLOCK_FEW_NODES',
  );
}
