import { randomBytes } from 'node:crypto';
import type {
  AcquireRequest,
  Lease,
  LockInspection,
  LockStore,
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
import type { TakeBacks } from './send/take-backs.js';
import { watchSilence } from '../../redis-client/watch-silence.js';
import type { LeaseContext } from './lease/lease-context.js';
import { canSubscribe, clientKeyPrefix } from '../../redis-client/redis-client.js';
import type { RedisClient } from '../../redis-client/redis-client.js';
import { RedisLease } from './lease/redis-lease.js';
import { featuresOf } from './redis-features.js';
import type { RedisFeatures } from './redis-features.js';
import { checkClient, resolveStoreOptions } from './redis-lock-options.js';
import type { RedisLockStoreOptions } from './redis-lock-options.js';
import { canScan } from '../../redis-client/scan-client.js';
import { Inspector } from './inspect/inspector.js';
import { LockList } from './inspect/lock-list.js';
import type { Refused } from './lua/replies.js';
import type { ScriptRunner } from './send/script-runner.js';
import { storeCalls } from './send/store-calls.js';
import { storeExtensions } from './send/store-extensions.js';
import { ServerKeys } from './keys/server-keys.js';
import { queuedLease } from './lease/queued-lease.js';
import { tryShare } from './lease/shared-attempt.js';
import { RedisWaiters } from './queue/redis-waiters.js';

/**
 * Locks on one Redis master, Sentinel or Cluster, version 6.2 or newer. The client stays the caller's: it is never closed here.
 */
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
  readonly #keys: ServerKeys;
  readonly #inspector: Inspector;
  readonly #trial: CounterTrial;
  readonly #runner: ScriptRunner;
  readonly #context: LeaseContext;
  readonly #waiters: RedisWaiters | undefined;
  readonly #silence: SilenceWatch;
  readonly #takeBacks: TakeBacks;
  readonly #watches: ServerWatches;
  #checks: ServerChecks | undefined;
  #isOneOfSeveral = false;
  /** Of several keys, the one that another caller had. */
  readonly #refusals = new WeakMap<AcquireRequest, string>();

  constructor(client: RedisClient, options: RedisLockStoreOptions = {}) {
    checkClient(client);
    const { keyPrefix, batchWrites, localPassLimit, yieldEvery, silenceTimeout, ...others } =
      resolveStoreOptions(options);
    const { serverChecks, ...replicas } = others;
    const clientPrefix = clientKeyPrefix(client);
    // While a slot of a Cluster moves, its keys are on two nodes, and a node may hang that other keys do not need.
    const isOneServer = client.isCluster !== true;
    const id = (isOneServer ? '' : '~') + randomBytes(8).toString('base64url');
    this.supports = featuresOf(client, localPassLimit);
    this.#keys = new ServerKeys(keyPrefix, clientPrefix, isOneServer);
    this.#trial = new CounterTrial(this.#keys);
    const slotOf = isOneServer ? () => 0 : (key: string) => clusterSlot(clientPrefix + key);
    this.#watches = new ServerWatches(client, (keys) => this.#keys.locks(keys).map(slotOf));
    this.#takeBacks = takeBacksOf(client);
    const awaited = replicas.replicas > 0 ? replicas.replicaTimeout : 0;
    const listening = () => this.#waiters?.connections ?? [];
    this.#silence = watchSilence(client, listening, silenceTimeout + awaited);
    const asked = () => this.#silence.asked();
    const calls = { client, replicas, batchWrites, slotOf, asked };
    const { runner, lockCalls } = storeCalls(calls, this.#takeBacks);
    this.#runner = runner;
    this.#inspector = new Inspector(this.#keys, this.#runner, this.#trial, isOneServer);
    if (canScan(client)) {
      const list = new LockList({ client, keys: this.#keys, inspector: this.#inspector, asked });
      this.list = (query) => list.page(query);
    }
    const reliance = () => ({ ...replicas, isOneOfSeveral: this.#isOneOfSeveral });
    if (serverChecks)
      this.checkServers = (tell) =>
        void (this.#checks ??= new ServerChecks(client, this.#keys, reliance, tell));
    const holds = (ttl: number) => this.#watches.holds(ttl);
    if (isOneServer)
      this.extendMany = (leases, ttl) => (holds(ttl), extendMany(this.#runner, leases, ttl));
    if (canSubscribe(client)) {
      const limits = [localPassLimit, yieldEvery] as const;
      const waiters = new RedisWaiters(client, id, runner, slotOf, ...limits, () => lockCalls);
      this.#waiters = waiters;
      this.acquire = (request, signal) => this.#wait(waiters, request, signal);
    }
    this.#context = {
      runner: this.#runner,
      names: new LockNames(this.#keys, id),
      lockCalls,
      takeBacks: this.#takeBacks,
      sentAgain: new SentAgain(this.#watches),
      holds,
      ...storeExtensions(this.#runner, isOneServer),
      handoffs: this.#waiters?.handoffs,
      freeMoments: this.#waiters?.freeMoments,
      strictQueue: replicas.replicas === 0 ? this.#waiters?.strictQueue : undefined,
    };
  }

  tryAcquire(request: AcquireRequest): Promise<Lease | undefined> {
    const { freeMoments } = this.#context;
    if (freeMoments?.areAny && freeMoments.refuse(this.#keys.locks(request.keys)))
      return Promise.resolve(undefined);
    const { keys, permits } = request;
    const refused =
      keys.length > 1 ? (key: string) => void this.#refusals.set(request, key) : undefined;
    if (permits !== undefined) {
      this.#waiters?.strictQueue?.arrived(request);
      return tryShare(request, permits, this.#context, refused);
    }
    const take = () => this.#trial.run(() => this.#take(request, refused));
    const strictQueue = keys.length === 1 ? this.#waiters?.strictQueue : undefined;
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

  /** Missing on a Cluster, which has several. */
  get server(): ServerLink | undefined {
    return this.#watches.server;
  }

  /** Tells of failovers, restarts, moved slots, and clocks that were set. */
  observe(tell: (notice: StoreNotice) => void): void {
    this.#watches.observe(tell);
  }

  joinQuorum(): void {
    this.#isOneOfSeveral = true;
    this.#keys.countEach();
    this.#context.freeMoments?.shares.stop(); // a single node of a quorum that leaves a lock free is useless
    this.#runner.joinQuorum();
    this.#context.lockCalls.gatherWholeTurns();
  }

  /** Ends the subscription, and removes everything of ours from the client. */
  async close(): Promise<void> {
    this.#context.lockCalls.send(); // before any later command of the client
    this.#silence.close();
    this.#takeBacks.close();
    this.#watches.close();
    this.#checks?.close();
    this.#checks = undefined;
    this.#waiters?.close();
  }

  #take(request: AcquireRequest, refused: Refused): Promise<Lease | undefined> {
    const { ttl, fencingFloor } = request;
    const held = this.#context.names.alone(request);
    const granted = (fence: bigint) => {
      this.#context.holds(ttl);
      return new RedisLease(held, this.#context, fence);
    };
    return this.#context.lockCalls.acquire(held, ttl, fencingFloor, granted, refused);
  }

  async #wait(waiters: RedisWaiters, request: AcquireRequest, signal: AbortSignal): Promise<Lease> {
    const handedOff = await waiters.wait(this.#context.names.queued(request), signal);
    return queuedLease(request, handedOff, this.#context);
  }
}
