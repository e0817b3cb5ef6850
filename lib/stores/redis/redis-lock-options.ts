import { optionError } from '../../core/options/option-error.js';
import { aBoolean, aString, aWhole, checkOptions } from '../../core/options/option-rules.js';
import type { OptionRules } from '../../core/options/option-rules.js';
import type { RedisClient } from './redis-client.js';

export interface RedisLockStoreOptions {
  /**
   * Stands in front of every key: `order:42` is kept at `lock:order:42`. May be empty, where no key is that of other data: a
   * stranger who chooses a key could otherwise lock that data.
   * @default 'lock:'
   */
  readonly keyPrefix?: string | undefined;
  /**
   * A grant or an extension counts only when this many replicas acknowledged it (`WAIT`, on the same connection: give the
   * store a client of its own). `0`: the master's word is enough, and a failover may lose locks.
   * @default 0
   */
  readonly replicas?: number | undefined;
  /**
   * Milliseconds to wait for the replicas.
   * @default 1_000
   */
  readonly replicaTimeout?: number | undefined;
  /**
   * Lets what one turn of the event loop wants leave together: the locks that it takes and frees in calls of up to 100, everything
   * else in one write, by corking the client's connection until the turn is over. Faster where many locks are taken at once.
   * @default true
   */
  readonly batchWrites?: boolean | undefined;
  /**
   * While another process waits for a lock, this process passes it on to its own callers at most so often in a row. `0`: it
   * never does, and the order is that of the server over all processes.
   * @default 8
   */
  readonly localPassLimit?: number | undefined;
  /**
   * Milliseconds for which the server may answer nothing that it was asked, before its connection is given up and the client
   * connects anew; `replicaTimeout` is added where replicas are awaited. A server that hangs closes no connection, and a failover
   * would go unnoticed. `Infinity` never gives one up: for a client that shares its connection with commands that block.
   * @default 3_000
   */
  readonly silenceTimeout?: number | undefined;
}

export const REDIS_RULES: OptionRules<RedisLockStoreOptions> = {
  keyPrefix: aString,
  replicas: aWhole('replicas', { from: 0 }),
  replicaTimeout: aWhole('ms', { from: 1 }),
  batchWrites: aBoolean,
  localPassLimit: aWhole('times', { from: 0, orInfinity: true }),
  silenceTimeout: aWhole('ms', { from: 1, orInfinity: true }),
};

type Resolved<T> = { readonly [Name in keyof T]-?: Exclude<T[Name], undefined> };

/** Throws `TypeError` or `RangeError` naming the option. */
export function resolveStoreOptions(
  options: RedisLockStoreOptions,
): Resolved<RedisLockStoreOptions> {
  checkOptions('RedisLockStore', options, REDIS_RULES, "{ keyPrefix: 'app:' }");
  const {
    keyPrefix = 'lock:',
    replicas = 0,
    replicaTimeout = 1_000,
    batchWrites = true,
    localPassLimit = 8,
    silenceTimeout = 3_000,
  } = options;
  return { keyPrefix, replicas, replicaTimeout, batchWrites, localPassLimit, silenceTimeout };
}

export function checkClient(client: RedisClient): void {
  if (typeof client?.evalsha === 'function') return;
  throw optionError(
    'RedisLockStore expects an ioredis client, `new RedisLockStore(new Redis(url))`',
  );
}
