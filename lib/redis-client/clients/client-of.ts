import { optionError } from '../../core/options/option-error.js';
import { isRedisClient } from '../redis-client.js';
import type { RedisClient } from '../redis-client.js';
import { isNodeRedisClient, isNodeRedisSentinel, unusableClient } from './node-redis/kinds.js';
import type { NodeRedisClient } from './node-redis/node-redis-client.js';
import { NodeRedisPort } from './node-redis/port.js';
import { SentinelSource } from './node-redis/sentinel-source.js';
import type { NodeRedisSentinel } from './node-redis/sentinel-client.js';
import { ServerSource } from './node-redis/source.js';

/** A client of the application, which stays its own. */
export type GivenClient = RedisClient | NodeRedisClient | NodeRedisSentinel;

export function isGivenClient(value: unknown): value is GivenClient {
  return isRedisClient(value) || isNodeRedisClient(value) || isNodeRedisSentinel(value);
}

/** The client that a store makes of `given`, and how to close the connections that it opens beside it. Throws `TypeError`, which `expected` begins. */
export function clientOf(
  given: GivenClient,
  expected: string,
): { readonly client: RedisClient; readonly close: () => Promise<void> } {
  if (isRedisClient(given)) return { client: given, close: async () => undefined };
  checkUsable(given, expected);
  if (!isGivenClient(given)) throw optionError(expected);
  const client = new NodeRedisPort(
    isNodeRedisSentinel(given) ? new SentinelSource(given) : new ServerSource(given),
  );
  return { client, close: () => client.close() };
}

/** Throws `TypeError` for clients of other kinds. */
export function checkUsable(value: unknown, expected: string): void {
  const what = unusableClient(value);
  if (what !== undefined) throw optionError(`${expected}, got ${what}`);
}
