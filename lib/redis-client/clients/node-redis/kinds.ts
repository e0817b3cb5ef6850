import type { NodeRedisCluster } from './cluster-client.js';
import type { NodeRedisClient } from './node-redis-client.js';
import type { NodeRedisSentinel } from './sentinel-client.js';

const METHODS = ['duplicate', 'connect', 'sendCommand', 'subscribe', 'withTypeMapping', 'destroy'];

/** Whether a value is a client of one server. */
export function isNodeRedisClient(value: unknown): value is NodeRedisClient {
  return hasAll(value, METHODS) && 'isPubSubActive' in value && !hasAll(value, ['nodeClient']);
}

/** Whether a value is a client of the master that sentinels name. */
export function isNodeRedisSentinel(value: unknown): value is NodeRedisSentinel {
  return hasAll(value, ['getSentinelNode', '_execute', 'connect', 'destroy', 'on', 'off']);
}

/** Whether a value is a client of the nodes of a Cluster. */
export function isNodeRedisCluster(value: unknown): value is NodeRedisCluster {
  if (!hasAll(value, ['nodeClient', 'duplicate', 'connect', 'destroy', 'on', 'off'])) return false;
  const { _options: options } = value as Partial<NodeRedisCluster>;
  return Array.isArray((options as { readonly rootNodes?: unknown })?.rootNodes);
}

/** The kind of a value that looks like a client of node-redis and cannot be used. `undefined`: it looks like something else. */
export function unusableClient(value: unknown): string | undefined {
  if ([isNodeRedisClient, isNodeRedisSentinel, isNodeRedisCluster].some((is) => is(value)))
    return undefined;
  if (hasAll(value, ['sendCommand', 'execute'])) return 'a client pool of node-redis';
  const isOther = ['sendCommand', 'send_command'].some((method) => hasAll(value, [method]));
  return isOther ? 'a client of another package, or of node-redis before version 5' : undefined;
}

function hasAll(value: unknown, methods: readonly string[]): value is object {
  if (typeof value !== 'object' || value === null) return false;
  const given = value as Readonly<Record<string, unknown>>;
  return methods.every((method) => typeof given[method] === 'function');
}
