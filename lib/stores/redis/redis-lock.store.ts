import { randomBytes } from 'node:crypto';
import { LockPermitsError } from '../../core/lock-errors.js';
import type {
  AcquireRequest,
  Lease,
  LockInspection,
  LockStore,
  StoreNotice,
} from '../../core/lock-store.js';
import type { ServerLink } from '../../core/server-link.js';
import { clusterSlot } from './cluster-slot.js';
import { CounterTrial } from './counter-trial.js';
import { extendMany } from './extend-many.js';
import { Extensions } from './extensions.js';
import { ALL_KEYS, HeldNames, LOCKS, LOCKS_AND_SHARERS, otherPermits } from './held.js';
import { SentAgain } from './failover/sent-again.js';
import { ServerWatches } from './failover/server-watches.js';
import type { SilenceWatch } from '../../redis-client/silence-watch.js';
import { takeBacksOf } from './failover/take-backs.js';
import type { TakeBacks } from './failover/take-backs.js';
import { watchSilence } from '../../redis-client/watch-silence.js';
import { asInspection } from './inspection.js';
import type { LeaseSurroundings } from './lease-surroundings.js';
import { canSubscribe, clientKeyPrefix } from './redis-client.js';
import type { RedisClient } from './redis-client.js';
import { RedisLease } from './redis-lease.js';
import { checkClient, resolveStoreOptions } from './redis-lock-options.js';
import type { RedisLockStoreOptions } from './redis-lock-options.js';
import { EXTEND, INSPECT } from './redis-scripts.js';
import { LockCalls } from './lock-calls.js';
import { isOne, unknownReply } from './replies.js';
import { ScriptRunner } from './script-runner.js';
import { ServerKeys } from './server-keys.js';
import { SharedRedisLease } from './shared-redis-lease.js';
import { abandonShared } from './shared-release.js';
import { ACQUIRE_SHARED, CONFIRM_SHARED, EXTEND_SHARED } from './shared-scripts.js';
import { WaitingRoom } from './waiting-room.js';

/** Locks on one Redis master, Sentinel or Cluster, version 6.2 or newer. The client stays the caller's: it is never closed here. */
export class RedisLockStore implements LockStore {
  readonly name = 'redis';
  readonly supports: {
    readonly fencing: true;
    readonly ttl: true;
    readonly manyKeys: boolean;
    readonly manyKeysInLine: true;
    readonly readLocks: true;
    /** `'polled'` on a client that cannot subscribe. */
    readonly semaphores: true | 'polled';
  };
  /** Stands in line on the server. Missing on a client that cannot subscribe, which is polled. */
  readonly acquire?: (request: AcquireRequest, signal: AbortSignal) => Promise<Lease>;
  /** Missing on a Cluster. */
  readonly extendMany?: (
    leases: readonly Lease[],
    ttl: number,
  ) => Promise<ReadonlyMap<Lease, unknown>>;
  readonly #keys: ServerKeys;
  readonly #trial: CounterTrial;
  readonly #runner: ScriptRunner;
  readonly #around: LeaseSurroundings;
  readonly #waitingRoom: WaitingRoom | undefined;
  readonly #silence: SilenceWatch;
  readonly #takeBacks: TakeBacks;
  readonly #watches: ServerWatches;

  constructor(client: RedisClient, options: RedisLockStoreOptions = {}) {
    checkClient(client);
    const { keyPrefix, batchWrites, localPassLimit, silenceTimeout, ...replicas } =
      resolveStoreOptions(options);
    const clientPrefix = clientKeyPrefix(client);
    // While a slot of a Cluster moves, some of its keys are here and some there, and a node may hang that others need not wait for.
    const isOneServer = client.isCluster !== true;
    const id = (isOneServer ? '' : '~') + randomBytes(8).toString('base64url');
    this.supports = {
      fencing: true,
      ttl: true,
      manyKeys: isOneServer,
      manyKeysInLine: true,
      readLocks: true,
      semaphores: canSubscribe(client) ? true : 'polled',
    };
    this.#keys = new ServerKeys(keyPrefix, clientPrefix, isOneServer);
    this.#trial = new CounterTrial(this.#keys);
    const slotOf = isOneServer ? () => 0 : (key: string) => clusterSlot(clientPrefix + key);
    this.#watches = new ServerWatches(client, (keys) => this.#keys.locks(keys).map(slotOf));
    this.#takeBacks = takeBacksOf(client);
    const awaited = replicas.replicas > 0 ? replicas.replicaTimeout : 0;
    const others = () => this.#waitingRoom?.connections ?? [];
    this.#silence = watchSilence(client, others, silenceTimeout + awaited);
    const asked = () => this.#silence.asked();
    this.#runner = new ScriptRunner(client, replicas, batchWrites, slotOf, asked);
    const gathers = batchWrites && replicas.replicas === 0; // the replicas are to acknowledge each lock for itself
    const direct = new ScriptRunner(client, replicas, false, slotOf, asked); // for calls that hold what a turn wants already
    const lockCalls = new LockCalls(
      gathers ? direct : this.#runner,
      slotOf,
      gathers,
      this.#takeBacks,
    );
    this.#runner.sendFirst(() => lockCalls.send());
    const holds = (ttl: number) => this.#watches.holds(ttl);
    if (isOneServer)
      this.extendMany = (leases, ttl) => (holds(ttl), extendMany(this.#runner, leases, ttl));
    if (canSubscribe(client)) {
      const room = new WaitingRoom(client, id, this.#runner, slotOf, localPassLimit);
      this.#waitingRoom = room;
      this.acquire = (request, signal) => this.#wait(room, request, signal);
    }
    this.#around = {
      runner: this.#runner,
      names: new HeldNames(this.#keys, id),
      lockCalls,
      takeBacks: this.#takeBacks,
      sentAgain: new SentAgain(this.#watches),
      holds,
      extensions: new Extensions(this.#runner, isOneServer, EXTEND, LOCKS),
      sharedExtensions: new Extensions(this.#runner, isOneServer, EXTEND_SHARED, LOCKS_AND_SHARERS),
      sharedConfirmations: new Extensions(this.#runner, isOneServer, CONFIRM_SHARED, ALL_KEYS),
      tenures: this.#waitingRoom?.tenures,
    };
  }

  tryAcquire(request: AcquireRequest): Promise<Lease | undefined> {
    if (request.permits !== undefined) return this.#tryShare(request, request.permits);
    return this.#trial.run(() => this.#take(request));
  }

  /** `undefined` when the server has answered the last sign of life of this request. */
  waitFailure(request: AcquireRequest): unknown {
    return this.#waitingRoom?.failure(this.#around.names.inLine(request).value);
  }

  inspect(key: string): Promise<LockInspection | undefined> {
    const read = (reply: unknown) => asInspection(key, reply);
    return this.#trial.run(() => this.#runner.run(INSPECT, this.#keys.inspected(key), [], read));
  }

  /** Missing on a Cluster, which is many. */
  get server(): ServerLink | undefined {
    return this.#watches.server;
  }

  /** Tells of failovers, restarts, slots that have moved, and clocks that were set. */
  observe(tell: (notice: StoreNotice) => void): void {
    this.#watches.observe(tell);
  }

  amongOthers(): void {
    this.#keys.countEach();
    this.#runner.amongOthers();
    this.#around.lockCalls.gatherWholeTurns();
  }

  /** Ends the subscription, and leaves nothing of ours with the client. */
  async close(): Promise<void> {
    this.#around.lockCalls.send(); // before whatever is asked of the client next
    this.#silence.close();
    this.#takeBacks.close();
    this.#watches.close();
    this.#waitingRoom?.close();
  }

  #take(request: AcquireRequest): Promise<Lease | undefined> {
    const { ttl, fencingFloor } = request;
    const held = this.#around.names.alone(request);
    return this.#around.lockCalls.acquire(held, ttl, fencingFloor, (fence) => {
      this.#around.holds(ttl);
      return new RedisLease(held, this.#around, fence);
    });
  }

  #tryShare(request: AcquireRequest, permits: number): Promise<Lease | undefined> {
    const held = this.#around.names.shared(request, permits);
    this.#takeBacks.forget(held);
    const read = (reply: unknown) => {
      if (Array.isArray(reply)) throw otherPermits(request, permits, reply);
      if (reply === null) return undefined;
      if (isOne(reply)) {
        this.#around.holds(request.ttl);
        return new SharedRedisLease(held, this.#around);
      }
      throw unknownReply('1, nil or a list', reply);
    };
    const failed = (error: unknown): never => {
      if (!(error instanceof LockPermitsError)) abandonShared(this.#takeBacks, this.#runner, held);
      throw error;
    };
    const args = [held.value, request.ttl];
    return this.#runner.change(ACQUIRE_SHARED, held.keys, args, read, failed);
  }

  async #wait(room: WaitingRoom, request: AcquireRequest, signal: AbortSignal): Promise<Lease> {
    const held = this.#around.names.inLine(request);
    await room.wait(held, signal);
    if (request.permits !== undefined) return SharedRedisLease.claimed(held, this.#around);
    return RedisLease.claimed(this.#around.names.alone(request), this.#around);
  }
}
