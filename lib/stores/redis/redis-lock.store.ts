import { randomBytes } from 'node:crypto';
import type {
  AcquireRequest,
  Lease,
  LockInspection,
  LockStore,
  ServerLink,
  StoreNotice,
} from '../../core/lock-store.js';
import { isClusterClient } from './cluster-client.js';
import { ClusterWatch } from './cluster-failover.js';
import { clusterSlot } from './cluster-slot.js';
import { Extensions } from './extensions.js';
import { watchServer } from './failover.js';
import { canSubscribe, clientKeyPrefix } from './redis-client.js';
import type { RedisClient } from './redis-client.js';
import { RedisLease, abandon } from './redis-lease.js';
import type { Held, LeaseSurroundings } from './redis-lease.js';
import { checkClient, resolveStoreOptions } from './redis-lock-options.js';
import type { RedisLockStoreOptions } from './redis-lock-options.js';
import { ACQUIRE, INSPECT } from './redis-scripts.js';
import { ScriptRunner } from './script-runner.js';
import { ServerKeys } from './server-keys.js';
import { RedisServerLink, canWatch } from './server-link.js';
import { WaitingRoom } from './waiting-room.js';

/** Locks on one Redis master, Sentinel or Cluster, version 6.2 or newer. The client stays the caller's: it is never closed here. */
export class RedisLockStore implements LockStore {
  readonly name = 'redis';
  readonly supports: { readonly fencing: true; readonly ttl: true; readonly manyKeys: boolean };
  /** Stands in line on the server. Missing on a client that cannot subscribe, which is polled. */
  readonly acquire?: (request: AcquireRequest, signal: AbortSignal) => Promise<Lease>;
  /** Names this store in the values of its locks, and the channel on which it is woken. */
  readonly #id: string;
  readonly #keys: ServerKeys;
  readonly #runner: ScriptRunner;
  readonly #around: LeaseSurroundings;
  readonly #waitingRoom: WaitingRoom | undefined;
  readonly #client: RedisClient;
  readonly #slotOf: (lock: string) => number;
  readonly #clusterWatches: ClusterWatch[] = [];
  #link: RedisServerLink | undefined;

  constructor(client: RedisClient, options: RedisLockStoreOptions = {}) {
    checkClient(client);
    const { keyPrefix, batchWrites, localPassLimit, ...replicas } = resolveStoreOptions(options);
    const clientPrefix = clientKeyPrefix(client);
    this.#id = (client.isCluster ? '~' : '') + randomBytes(8).toString('base64url');
    this.supports = { fencing: true, ttl: true, manyKeys: client.isCluster !== true };
    this.#keys = new ServerKeys(keyPrefix, clientPrefix);
    const slotOf = client.isCluster ? (key: string) => clusterSlot(clientPrefix + key) : () => 0;
    this.#client = client;
    this.#slotOf = slotOf;
    this.#runner = new ScriptRunner(client, replicas, batchWrites, slotOf);
    const extensions = new Extensions(this.#runner, slotOf);
    if (canSubscribe(client)) {
      const room = new WaitingRoom(client, this.#id, this.#runner, slotOf, localPassLimit);
      this.#waitingRoom = room;
      this.acquire = (request, signal) => this.#wait(room, request, signal);
    }
    this.#around = { runner: this.#runner, extensions, tenures: this.#waitingRoom?.tenures };
  }

  tryAcquire(request: AcquireRequest): Promise<Lease | undefined> {
    const { ttl, fencingFloor } = request;
    const held = this.#heldOf(request);
    const { keys, value } = held;
    const args = fencingFloor === undefined ? [value, ttl] : [value, ttl, String(fencingFloor)];
    const read = (fence: unknown) =>
      fence === null ? undefined : new RedisLease(held, this.#around, fence);
    const failed = (error: unknown): never => {
      abandon(this.#runner, held);
      throw error;
    };
    return this.#runner.change(ACQUIRE, keys, args, read, failed);
  }

  async inspect(key: string): Promise<LockInspection | undefined> {
    const reply = await this.#runner.run(INSPECT, this.#keys.all([key]), [], asInspection);
    if (!reply) return undefined;
    const [value, pttl, counter] = reply;
    const [fence, lastValue] = splitAt(counter ?? '', ' ');
    const remaining = Number(pttl);
    return {
      key,
      holder: splitAt(value, ':')[1] || undefined,
      remaining: remaining < 0 ? Infinity : remaining,
      fencingToken: `${lastValue} `.startsWith(`${value} `) ? BigInt(fence) : undefined,
    };
  }

  /** Missing on a Cluster, which is many. */
  get server(): ServerLink | undefined {
    if (!this.#link && canWatch(this.#client)) this.#link = new RedisServerLink(this.#client);
    return this.#link;
  }

  /** Tells of failovers, restarts and slots that have moved. */
  observe(tell: (notice: StoreNotice) => void): void {
    const slotsOf = (keys: readonly string[]) =>
      this.#keys.locks(keys).map((lock) => this.#slotOf(lock));
    if (isClusterClient(this.#client))
      this.#clusterWatches.push(new ClusterWatch(this.#client, slotsOf, tell));
    else if (this.server) watchServer(this.server, tell);
  }

  amongOthers(): void {
    this.#runner.amongOthers();
  }

  /** Ends the subscription, and leaves nothing of ours with the client. */
  async close(): Promise<void> {
    this.#waitingRoom?.close();
    this.#link?.close();
    for (const watch of this.#clusterWatches.splice(0)) watch.close();
  }

  async #wait(room: WaitingRoom, request: AcquireRequest, signal: AbortSignal): Promise<Lease> {
    const held = this.#heldOf(request);
    await room.wait(held, request.ttl, signal);
    return RedisLease.claimed(held, this.#around);
  }

  #heldOf({ keys, token, holder = '' }: AcquireRequest): Held {
    return { keys: this.#keys.all(keys), value: `${this.#id}.${token}:${holder}` };
  }
}

type Inspected = [value: string, pttl: number | string, counter: string | null | undefined];

function asInspection(reply: unknown): Inspected | null {
  return reply as Inspected | null;
}

function splitAt(text: string, separator: string): [before: string, after: string] {
  const index = text.indexOf(separator);
  return index < 0 ? [text, ''] : [text.slice(0, index), text.slice(index + 1)];
}
