import { Redis, type RedisOptions } from 'ioredis';
import { Redis as Redis5 } from 'ioredis5';
import { createClient } from 'redis';
import { type LockOptions, LockService, RedisLockStore } from 'nest-holdfast';
import type { RedisServer } from '../../support/servers/redis-server.js';
import { until } from '../../support/until.js';
import { disconnect } from '../redis/locks.js';
import { type InLine, lineOf } from '../../support/redis-line.js';

/** Both are woken on a second connection. */
export const CLIENTS = [
  ['ioredis 6', Redis],
  ['ioredis 5', Redis5 as unknown as typeof Redis],
] as const;

/** As a client of ioredis, for what specs do with one: it is connected, and closed. */
class NodeRedis {
  constructor(url: string, { username, password }: RedisOptions) {
    const client = createClient({ url, ...(username && { username, password }) });
    return Object.assign(client, { status: 'end' });
  }
}

/** For specs that leave most options of the client alone. */
export const ALL_CLIENTS = [
  ...CLIENTS,
  ['node-redis', NodeRedis as unknown as typeof Redis],
] as const;

interface AppInstanceOptions extends LockOptions {
  readonly Client?: typeof Redis;
  readonly client?: RedisOptions;
  readonly localPassLimit?: number;
  readonly yieldEvery?: number;
  readonly silenceTimeout?: number;
}

/** One of several processes that want the same locks: a client, a store and a service, which close with their block. */
export class AppInstance implements AsyncDisposable {
  readonly redis: Redis;
  readonly store: RedisLockStore;
  readonly locks: LockService;

  constructor(url: string, options: AppInstanceOptions = {}) {
    const { Client = Redis, client, ...others } = options;
    const { localPassLimit, yieldEvery, silenceTimeout, ...lockOptions } = others;
    this.redis = new Client(url, { retryStrategy: () => 20, ...client });
    this.redis.on('error', () => {}); // the commands say what matters here
    this.store = new RedisLockStore(this.redis, { localPassLimit, yieldEvery, silenceTimeout });
    this.locks = new LockService(this.store, { waitTimeout: 60_000, ...lockOptions });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.locks.close();
    disconnect(this.redis);
  }
}

/** The waiters of `key` on the server, first to last. */
export function inLine(server: RedisServer, key: string): Promise<InLine[]> {
  return lineOf((...words) => server.command(...words), `lock:${key}`);
}

/** Resolves when so many stand in line for `key`. */
export async function standing(server: RedisServer, key: string, count: number): Promise<void> {
  await until(async () => (await inLine(server, key)).length === count, {
    what: `${count} in line for ${key}`,
  });
}
