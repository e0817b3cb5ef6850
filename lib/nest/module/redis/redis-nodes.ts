import type { GivenClient } from '../../../redis-client/clients/client-of.js';
import { connectRedis } from './redis-connection.js';
import type { SilenceLimits } from './redis-defaults.js';
import type { RedisConnection, RedisSource } from './redis-connection.js';

/** The one client of a module, or those of the nodes of its Redlock. */
export interface RedisConnections {
  readonly client: GivenClient | readonly GivenClient[];
  close(): Promise<void>;
}

/** Opens what is missing. When one source of several is unusable, the others are closed again. */
export async function connectAll(
  source: RedisSource | readonly RedisSource[],
  limits: SilenceLimits,
): Promise<RedisConnections> {
  if (!isList(source)) return connectRedis(source, 'redis', limits);
  const opened = await Promise.allSettled(
    source.map((each, index) => connectRedis(each, `redis[${index}]`, limits)),
  );
  const connections = opened.flatMap((each) => (each.status === 'fulfilled' ? each.value : []));
  const failed = opened.find((each) => each.status === 'rejected');
  if (!failed) return joined(connections);
  await joined(connections).close();
  throw failed.reason;
}

function joined(connections: readonly RedisConnection[]): RedisConnections {
  return {
    client: connections.map(({ client }) => client),
    close: async () => void (await Promise.all(connections.map((each) => each.close()))),
  };
}

/** `Array.isArray` does not narrow what is read-only. */
export function isList<T>(value: T | readonly T[]): value is readonly T[] {
  return Array.isArray(value);
}
