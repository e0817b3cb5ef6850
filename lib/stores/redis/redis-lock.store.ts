import { randomBytes } from 'node:crypto';
import type {
  AcquireRequest,
  EvictRequest,
  HolderAnswer,
  Lease,
  LockInspection,
  LockStore,
  NamedHolder,
  StoreNotice,
} from '../../core/contract/lock-store.js';
import type { ServerLink } from '../../core/contract/server-link.js';
import { clusterSlot } from '../../redis-client/cluster-slot.js';
import { ServerChecks } from './checks/server-checks.js';
import { CounterTrial } from './keys/counter-trial.js';
import { extendMany } from './lease/extend-many.js';
import { LockNames } from './keys/named-lock.js';
import { SentAgain } from './failover/sent-again.js';
import { ServerWatches } from './failover/server-watches.js';
import type { SilenceWatch } from '../../redis-client/silence-watch.js';
import { takeBacksOf } from './send/take-backs.js';
import { watchSilence } from '../../redis-client/watch-silence.js';
import type { LeaseContext } from './lease/lease-context.js';
import { clientOf } from '../../redis-client/clients/client-of.js';
import type { GivenClient } from '../../redis-client/clients/client-of.js';
import { canSubscribe, clientKeyPrefix } from '../../redis-client/redis-client.js';
import { tryHold, tryShare } from './lease/attempts.js';
import { featuresOf } from './redis-features.js';
import type { RedisFeatures } from './redis-features.js';
import { EXPECTED_CLIENT, resolveStoreOptions } from './redis-lock-options.js';
import type { RedisLockStoreOptions } from './redis-lock-options.js';
import { Inspector } from './inspect/inspector.js';
import { lockListOf } from './inspect/lock-list.js';
import { SeenHolders } from './keys/seen-holders.js';
import { RedisEvictions } from './evict/redis-evictions.js';
import { storeCalls } from './send/store-calls.js';
import { storeExtensions } from './send/store-extensions.js';
import { ServerKeys } from './keys/server-keys.js';
import { queuedLease } from './lease/queued-lease.js';
import { RedisWaiters } from './queue/redis-waiters.js';
import { isShared } from '../../core/sharing/hold-mode.js';

/** Locks on one Redis master, Sentinel or Cluster, version 6.2 or newer. The client stays the caller's: it is never closed here. */
export class RedisLockStore implements LockStore {
  readonly name = 'redis';
  readonly supports: RedisFeatures;
  /** Waits in the server's queue. Missing on a client that cannot subscribe, which is polled. */
  readonly acquire?: (request: AcquireRequest, signal: AbortSignal) => Promise<Lease>;
  /** Missing on a Cluster. */
  readonly extendMany?: NonNullable<LockStore['extendMany']>;
  /** Missing with `serverChecks: false`. */
  readonly checkServers?: NonNullable<LockStore['checkServers']>;
  /** Missing on a client that cannot `SCAN`. */
  readonly list?: NonNullable<LockStore['list']>;
  readonly connectionFailure: (silent: boolean) => unknown;
  readonly #keys: ServerKeys;
  readonly #inspector: Inspector;
  readonly #evictions: RedisEvictions;
  readonly #trial: CounterTrial;
  readonly #context: LeaseContext;
  readonly #waiters: RedisWaiters | undefined;
  readonly #silence: SilenceWatch;
  readonly #watches: ServerWatches;
  readonly #closeClient: () => Promise<void>;
  #checks: ServerChecks | undefined;
  #isOneOfSeveral = false;
  /** Of several keys, the one that another caller had. */
  readonly #refusals = new WeakMap<AcquireRequest, string>();

  constructor(given: GivenClient, options: RedisLockStoreOptions = {}) {
    const { client, close } = clientOf(given, EXPECTED_CLIENT);
    this.#closeClient = close;
    const { keyPrefix, batchWrites, localPassLimit, yieldEvery, silenceTimeout, ...others } =
      resolveStoreOptions(options);
    const { serverChecks, ...replicas } = others;
    const clientPrefix = clientKeyPrefix(client);
    // While a slot of a Cluster moves, its keys are on two nodes, and a node may hang that other keys do not need.
    const isOneServer = client.isCluster !== true;
    const id = (isOneServer ? '' : '~') + randomBytes(8).toString('base64url');
    this.supports = featuresOf(client, localPassLimit);
    const keys = (this.#keys = new ServerKeys(keyPrefix, clientPrefix, isOneServer));
    this.#trial = new CounterTrial(keys);
    const slotOf = isOneServer ? () => 0 : (key: string) => clusterSlot(clientPrefix + key);
    this.#watches = new ServerWatches(client, (locked) => keys.locks(locked).map(slotOf));
    this.connectionFailure = this.#watches.connectionFailure;
    const takeBacks = takeBacksOf(client);
    const awaited = replicas.replicas > 0 ? replicas.replicaTimeout : 0;
    const listening = () => this.#waiters?.connections ?? [];
    this.#silence = watchSilence(client, listening, silenceTimeout + awaited);
    const calls = { client, replicas, batchWrites, slotOf, silence: this.#silence };
    const { runner, lockCalls } = storeCalls(calls, takeBacks);
    const seen = new SeenHolders();
    this.#inspector = new Inspector(this.#keys, runner, this.#trial, isOneServer, seen);
    const list = lockListOf({ client, keys, inspector: this.#inspector, silence: this.#silence });
    if (list) this.list = (query) => list.page(query);
    const reliance = () => ({ ...replicas, isOneOfSeveral: this.#isOneOfSeveral });
    if (serverChecks)
      this.checkServers = (tell) =>
        void (this.#checks ??= new ServerChecks(client, this.#keys, reliance, tell));
    const keeps = (ttl: number) => (this.#watches.clocks?.holds(ttl), this.#waiters?.listen());
    if (isOneServer)
      this.extendMany = (leases, ttl) => (keeps(ttl), extendMany(runner, leases, ttl));
    if (canSubscribe(client)) {
      const waiters = (this.#waiters = new RedisWaiters(client, id, runner, slotOf, localPassLimit, yieldEvery, () => lockCalls)); // prettier-ignore
      this.acquire = async (request, signal) => {
        const handedOff = await waiters.wait(this.#context.names.queued(request), signal);
        return queuedLease(request, handedOff, this.#context);
      };
    }
    this.#context = {
      runner,
      names: new LockNames(this.#keys, id),
      lockCalls,
      takeBacks,
      sentAgain: new SentAgain(this.#watches),
      watches: this.#watches,
      keeps,
      ...storeExtensions(runner, isOneServer),
      handoffs: this.#waiters?.handoffs,
      freeMoments: this.#waiters?.freeMoments,
      strictQueue: replicas.replicas === 0 ? this.#waiters?.strictQueue : undefined,
    };
    this.#evictions = new RedisEvictions({ ...this.#context, keys, trial: this.#trial, seen, id, waiters: this.#waiters }); // prettier-ignore
  }

  tryAcquire(request: AcquireRequest): Promise<Lease | undefined> {
    const { freeMoments } = this.#context;
    if (freeMoments?.areAny && freeMoments.refuse(this.#keys.locks(request.keys)))
      return Promise.resolve(undefined);
    const { keys, permits } = request;
    const refused =
      keys.length > 1 ? (key: string) => void this.#refusals.set(request, key) : undefined;
    if (isShared(permits)) {
      this.#waiters?.strictQueue?.arrived(request);
      return tryShare(request, permits, this.#context, refused);
    }
    const strictQueue = keys.length === 1 ? this.#waiters?.strictQueue : undefined;
    if (!strictQueue && this.#trial.isOver) return tryHold(request, this.#context, refused);
    const take = () => this.#trial.run(() => tryHold(request, this.#context, refused));
    return strictQueue ? strictQueue.attempt(this.#keys.locks(keys)[0]!, request, take) : take();
  }

  refusedKey(request: AcquireRequest): string | undefined {
    return this.#refusals.get(request);
  }

  /** `undefined` when the server has answered the last heartbeat of this request. */
  waitFailure(request: AcquireRequest): unknown {
    return this.#waiters?.failure(this.#context.names.queued(request).value);
  }

  beforeDeadline(request: AcquireRequest): void {
    this.#waiters?.askFor(this.#context.names.queued(request).value);
  }

  inspect(key: string): Promise<LockInspection | undefined> {
    return this.#inspector.one(key);
  }

  askHolder(named: NamedHolder, grace: number): Promise<HolderAnswer> {
    return this.#evictions.ask(named, grace);
  }

  evict(request: EvictRequest): Promise<HolderAnswer> {
    return this.#evictions.take(request);
  }

  /** Missing on a Cluster, which has several. */
  get server(): ServerLink | undefined {
    return this.#watches.server;
  }

  /** Tells of evictions; as the only node also of failovers, restarts, moved slots and clocks that were set. */
  observe(tell: (notice: StoreNotice) => void): void {
    this.#context.takeBacks.open(); // a store may be closed, and used again
    if (!this.#isOneOfSeveral) this.#watches.observe(tell);
    this.#evictions.observers.add(tell);
  }

  joinQuorum(): void {
    this.#isOneOfSeveral = true;
    this.#keys.countEach();
    this.#context.freeMoments?.shares.stop(); // a single node of a quorum that leaves a lock free is useless
    this.#context.runner.joinQuorum();
    this.#evictions.joinQuorum();
    this.#context.lockCalls.gatherWholeTurns();
  }

  /** Ends the subscription, and removes everything of ours from the client. */
  async close(): Promise<void> {
    this.#context.lockCalls.send(); // before any later command of the client
    this.#silence.close();
    this.#context.takeBacks.close();
    this.#watches.close();
    this.#checks?.close();
    this.#checks = undefined;
    this.#waiters?.close();
    await this.#closeClient();
  }
}
