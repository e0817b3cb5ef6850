import { aBoolean, aString, aWhole, checkOptions } from '../../core/options/option-rules.js';
import type { OptionRules } from '../../core/options/option-rules.js';

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
   * Lets the commands of one turn of the event loop leave together: locks are taken and freed in calls of up to 100, all other
   * commands leave in one write, by corking the client's connection until the turn is over. Faster where many locks are taken at
   * once.
   * @default true
   */
  readonly batchWrites?: boolean | undefined;
  /**
   * Maximum number of consecutive hand-offs inside the process while another process waits. `0`: none, and callers of all
   * processes are served in the server's order.
   * @default 8
   */
  readonly localPassLimit?: number | undefined;
  /**
   * A lock that goes from holder to holder for this many milliseconds without a gap is left free for 1 % of that time before the
   * next holder. So a program that polls with `SET NX` at least that often gets its turn; it has no place in the line. The order
   * of the line stays as it is. `Infinity`: a lock with waiters is never free.
   * @default 2_000
   */
  readonly yieldEvery?: number | undefined;
  /**
   * Milliseconds for which the server may leave commands unanswered before its connection is given up and the client connects
   * anew; `replicaTimeout` is added where replicas are awaited. A server that hangs closes no connection, and a failover would
   * go unnoticed. `Infinity` never gives one up: for a client that shares its connection with blocking commands.
   * @default 3_000
   */
  readonly silenceTimeout?: number | undefined;
  /**
   * Looks once, when a server is connected to, for what loses locks in practice: eviction, missing persistence, a clock that is
   * off, missing rights. Event `warning`, or a process warning with a `code`. Delays no lock.
   * @default true, but false where `NODE_ENV` is `test`: the servers of tests forget everything
   */
  readonly serverChecks?: boolean | undefined;
}

export const REDIS_RULES: OptionRules<RedisLockStoreOptions> = {
  keyPrefix: aString,
  replicas: aWhole('replicas', { from: 0 }),
  replicaTimeout: aWhole('ms', { from: 1 }),
  batchWrites: aBoolean,
  localPassLimit: aWhole('times', { from: 0, orInfinity: true }),
  yieldEvery: aWhole('ms', { from: 1, orInfinity: true }),
  silenceTimeout: aWhole('ms', { from: 1, orInfinity: true }),
  serverChecks: aBoolean,
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
    yieldEvery = 2_000,
    silenceTimeout = 3_000,
    serverChecks = process.env['NODE_ENV'] !== 'test',
  } = options;
  const waiting = { localPassLimit, yieldEvery, silenceTimeout };
  return { keyPrefix, replicas, replicaTimeout, batchWrites, serverChecks, ...waiting };
}

export const EXPECTED_CLIENT =
  'RedisLockStore expects a client of ioredis, `new RedisLockStore(new Redis(url))`, or of node-redis, `new RedisLockStore(createClient({ url }))`';
