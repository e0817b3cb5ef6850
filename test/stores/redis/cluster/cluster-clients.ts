import { Cluster } from 'ioredis';
import { Cluster as Cluster5 } from 'ioredis5';
import type { RedisLockStore } from 'nest-holdfast';
import { createCluster } from 'redis';
import { createCluster as createCluster6 } from 'redis6';
import type { RedisCluster } from '../../../support/servers/redis-cluster.js';
import { lineLength } from '../../../support/redis-line.js';
import { clusterSlot } from '../../../../lib/redis-client/cluster-slot.js';
import { disconnect } from '../locks.js';

/** A client of one process, for a store. */
export interface ProcessClient {
  readonly client: ConstructorParameters<typeof RedisLockStore>[0];
  /** Reads the slots anew. A store beside node-redis does so every few seconds. */
  readonly refresh?: () => void;
  /** Closes it, as its process would. */
  readonly end: () => void;
}

type Nodes = Pick<RedisCluster, 'startupNodes'>;
type Open = (cluster: Nodes) => ProcessClient;

const withIoredis =
  (Client: typeof Cluster): Open =>
  ({ startupNodes }) => {
    const client = new Client(startupNodes);
    return { client, refresh: () => client.refreshSlotsCache(), end: () => disconnect(client) };
  };

/** Without a listener of errors: one that reached the client would end the process. */
const withNodeRedis =
  (create: typeof createCluster): Open =>
  ({ startupNodes }) => {
    const client = create({ rootNodes: startupNodes.map((socket) => ({ socket })) });
    return { client, end: () => client.destroy() };
  };

export const CLUSTER_CLIENTS: readonly (readonly [name: string, open: Open])[] = [
  ['ioredis 6', withIoredis(Cluster)],
  ['ioredis 5', withIoredis(Cluster5 as unknown as typeof Cluster)],
  ['node-redis 5', withNodeRedis(createCluster)],
  ['node-redis 6', withNodeRedis(createCluster6 as unknown as typeof createCluster)],
];

/** How many stand in line for a key, as its master has it. */
export async function waitersOf(cluster: RedisCluster, key: string): Promise<number> {
  const [master] = await cluster.serving(clusterSlot(`lock:${key}`));
  return lineLength((...words) => master!.command(...words), `lock:${key}`);
}
