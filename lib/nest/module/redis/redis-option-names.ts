import type { ClusterOptions, RedisOptions } from 'ioredis';
import { show } from '../../../core/options/option-values.js';
import { optionError } from '../../../core/options/option-error.js';
import { unknownOption } from '../../../core/options/option-names.js';
import { isDatabase } from '../../../redis-client/redis-url.js';
import { checkUsable } from '../../../redis-client/clients/client-of.js';

/** All options of ioredis 5 and 6. */
const OF_A_SERVER = {
  host: true,
  port: true,
  family: true,
  path: true,
  username: true,
  password: true,
  db: true,
  tls: true,
  keyPrefix: true,
  name: true,
  role: true,
  sentinels: true,
  sentinelUsername: true,
  sentinelPassword: true,
  sentinelTLS: true,
  enableTLSForSentinelMode: true,
  sentinelRetryStrategy: true,
  sentinelReconnectStrategy: true,
  sentinelCommandTimeout: true,
  sentinelMaxConnections: true,
  updateSentinels: true,
  failoverDetector: true,
  preferredSlaves: true,
  natMap: true,
  Connector: true,
  retryStrategy: true,
  reconnectOnError: true,
  connectTimeout: true,
  commandTimeout: true,
  blockingTimeout: true,
  blockingTimeoutGrace: true,
  socketTimeout: true,
  disconnectTimeout: true,
  keepAlive: true,
  noDelay: true,
  connectionName: true,
  disableClientInfo: true,
  clientInfoTag: true,
  autoResubscribe: true,
  autoResendUnfulfilledCommands: true,
  readOnly: true,
  stringNumbers: true,
  protocol: true,
  replyMapping: true,
  monitor: true,
  maxRetriesPerRequest: true,
  maxLoadingRetryTime: true,
  enableAutoPipelining: true,
  autoPipeliningIgnoredCommands: true,
  offlineQueue: true,
  commandQueue: true,
  enableOfflineQueue: true,
  enableReadyCheck: true,
  lazyConnect: true,
  scripts: true,
  himportFieldsets: true,
  showFriendlyErrorStack: true,
} as const satisfies Record<keyof RedisOptions, true>;

const OF_A_CLUSTER = {
  cluster: true, // ours
  redisOptions: true,
  keyPrefix: true,
  natMap: true,
  scaleReads: true,
  maxRedirections: true,
  clusterRetryStrategy: true,
  clusterNodeRetryStrategy: true,
  retryDelayOnFailover: true,
  retryDelayOnClusterDown: true,
  retryDelayOnTryAgain: true,
  retryDelayOnMoved: true,
  slotsRefreshTimeout: true,
  slotsRefreshInterval: true,
  shardedSubscribers: true,
  useSRVRecords: true,
  resolveSrv: true,
  dnsLookup: true,
  enableAutoPipelining: true,
  autoPipeliningIgnoredCommands: true,
  enableOfflineQueue: true,
  enableReadyCheck: true,
  lazyConnect: true,
  scripts: true,
  himportFieldsets: true,
  showFriendlyErrorStack: true,
} as const satisfies Record<keyof ClusterOptions | 'cluster', true>;

/**
 * Throws `TypeError` for an option that ioredis does not have: it would pass over it, and connect to port 6379 of this machine.
 * `option` names `source`.
 */
export function checkRedisOptions(source: object, option: string): void {
  checkUsable(source, `${option} must be a client of ioredis or node-redis`);
  checkNames(source, option, 'cluster' in source ? OF_A_CLUSTER : OF_A_SERVER);
  const { db, redisOptions } = source as { readonly db?: unknown; readonly redisOptions?: object };
  if ((db ?? 0) !== 0 && !isDatabase(db))
    throw optionError(`${option}.db must be the number of a database, got ${show(db)}`);
  if (redisOptions) checkNames(redisOptions, `${option}.redisOptions`, OF_A_SERVER);
}

function checkNames(source: object, option: string, known: object): void {
  for (const [name, value] of Object.entries(source)) {
    if (value === undefined || Object.hasOwn(known, name)) continue;
    if (name === 'url') throw optionError(`${option}.url is no option of ioredis: give the URL in place of the object, ${option}: 'redis://…'`); // prettier-ignore
    throw unknownOption(name, Object.keys(known), option);
  }
}
