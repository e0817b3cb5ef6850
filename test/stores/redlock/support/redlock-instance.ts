import type { Redis } from 'ioredis';
import { type Lock, LockService, type LockServiceOptions, RedisLockStore } from 'nest-holdfast';
import { RedlockStore } from 'nest-holdfast/redlock';
import type { RedlockStoreOptions } from 'nest-holdfast/redlock';
import { until } from '../../../support/until.js';
import type { RedlockNodes } from './nodes.js';
import { OwnClient } from '../../redis/locks.js';
import { lineLength } from '../../../support/redis-line.js';

/** Milliseconds: a busy machine is no hung node. */
const PATIENT = 10_000;

export interface InstanceOptions extends RedlockStoreOptions {
  readonly localPassLimit?: number;
  /** The nodes as this process lists them. @default as they are */
  readonly urls?: readonly string[];
  readonly service?: LockServiceOptions;
}

/** One of several processes that want the same locks on the same nodes: patient, and without quarantine, unless told otherwise. */
export class RedlockInstance implements AsyncDisposable {
  readonly clients: readonly Redis[];
  readonly stores: readonly RedisLockStore[];
  readonly store: RedlockStore;
  readonly locks: LockService;
  readonly #owned: readonly OwnClient[];

  /** Resolves once it is connected. */
  static async start(nodes: RedlockNodes, options: InstanceOptions = {}): Promise<RedlockInstance> {
    const own = new RedlockInstance(nodes, options);
    await until(() => own.clients.every(({ status }) => status === 'ready'));
    return own;
  }

  private constructor({ servers }: RedlockNodes, options: InstanceOptions) {
    const { localPassLimit, urls = servers.map(({ url }) => url), service, ...rest } = options;
    this.#owned = urls.map((url) => new OwnClient(url));
    this.clients = this.#owned.map(({ redis }) => redis);
    this.stores = this.clients.map((client) => new RedisLockStore(client, { localPassLimit }));
    this.store = new RedlockStore(this.stores, {
      nodeTimeout: PATIENT,
      quarantine: false,
      ...rest,
    });
    this.locks = new LockService(this.store, { waitTimeout: 60_000, ...service });
  }

  /** Resolves once everything that the nodes have said so far has been read: no node that answers is behind. */
  async settled(): Promise<void> {
    const ready = this.clients.filter(({ status }) => status === 'ready');
    await Promise.all(ready.map((client) => client.ping()));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.locks.close();
    for (const client of this.#owned) await client[Symbol.asyncDispose]();
  }
}

/** Sees the holders of a lock, and when there are two. */
export class Witness {
  readonly tokens: bigint[] = [];
  mostAtOnce = 0;
  #now = 0;

  /** To be called with the lock. */
  readonly watch = async (lock: Lock, work: () => unknown = () => undefined): Promise<void> => {
    this.mostAtOnce = Math.max(this.mostAtOnce, ++this.#now);
    this.tokens.push(lock.fencingToken);
    await work();
    await new Promise((resolve) => setImmediate(resolve));
    this.#now--;
  };

  /** Holders so far came one at a time, with growing tokens. */
  confirm(count: number): void {
    expect(this.tokens).toHaveLength(count);
    expect(this.mostAtOnce).toBe(1);
    expect(this.tokens.filter((token, index) => index > 0 && token <= this.tokens[index - 1]!)).toEqual([]); // prettier-ignore
  }
}

/** The node where callers wait for `key`, once `count` wait there and none at any other. */
export function queueNodeOf(nodes: RedlockNodes, key: string, count = 1): Promise<number> {
  return until(
    async () => {
      const lengths = await lineLengths(nodes, key);
      const isAll = lengths.every((length) => length <= 0 || length === count);
      const at = lengths.flatMap((length, index) => (length > 0 ? index : []));
      return isAll && at.length === 1 ? { index: at[0]! } : undefined;
    },
    { what: `${count} in line for ${key} at one node`, within: 30_000 },
  ).then(({ index }) => index);
}

/** How many stand in line for `key` at each node; `-1` where it is down. */
export function lineLengths({ servers }: RedlockNodes, key: string): Promise<number[]> {
  return Promise.all(
    servers.map((server) =>
      lineLength((...words) => server.command(...words), `lock:${key}`).catch(() => -1),
    ),
  );
}
