import { optionError } from '../../core/options/option-error.js';
import { isRedisClient } from '../redis-client.js';
import type { RedisClient } from '../redis-client.js';
import {
  isNodeRedisClient,
  isNodeRedisCluster,
  isNodeRedisSentinel,
  unusableClient,
} from './node-redis/kinds.js';
import { NodeRedisClusterPort } from './node-redis/cluster/port.js';
import type { NodeRedisCluster } from './node-redis/cluster-client.js';
import type { NodeRedisClient } from './node-redis/node-redis-client.js';
import { NodeRedisPort } from './node-redis/port.js';
import { SentinelSource } from './node-redis/sentinel-source.js';
import type { NodeRedisSentinel } from './node-redis/sentinel-client.js';
import { ServerSource } from './node-redis/source.js';

/** A client of the application, which stays its own. */
export type GivenClient = RedisClient | NodeRedisClient | NodeRedisSentinel | NodeRedisCluster;

export function isGivenClient(value: unknown): value is GivenClient {
  const kinds = [isRedisClient, isNodeRedisClient, isNodeRedisSentinel, isNodeRedisCluster];
  return kinds.some((isOne) => isOne(value));
}

/** The client that a store makes of `given`, and how to close the connections that it opens beside it. Throws `TypeError`, which `expected` begins. */
export function clientOf(
  given: GivenClient,
  expected: string,
): { readonly client: RedisClient; readonly close: () => Promise<void> } {
  if (isRedisClient(given)) return { client: given, close: async () => undefined };
  checkUsable(given, expected);
  if (!isGivenClient(given)) throw optionError(expected);
  const client = isNodeRedisCluster(given) ? new NodeRedisClusterPort(given) : portOf(given);
  return { client, close: () => client.close() };
}

function portOf(given: NodeRedisClient | NodeRedisSentinel): NodeRedisPort {
  const source = isNodeRedisSentinel(given) ? new SentinelSource(given) : new ServerSource(given);
  return new NodeRedisPort(source);
}

/** Throws `TypeError` for clients of other kinds. */
export function checkUsable(value: unknown, expected: string): void {
  const what = unusableClient(value);
  if (what !== undefined) throw optionError(`${expected}, got ${what}`);
}
