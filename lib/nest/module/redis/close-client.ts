import type { Redis } from 'ioredis';
import { systemClock } from '../../../core/async/clock.js';
import { waitAtMost } from '../../../core/async/sleep.js';
import type { GivenClient } from '../../../redis-client/clients/client-of.js';
import {
  isNodeRedisClient,
  isNodeRedisCluster,
  isNodeRedisSentinel,
} from '../../../redis-client/clients/node-redis/kinds.js';
import { destroyClient } from '../../../redis-client/clients/node-redis/node-redis-client.js';
import type { NodeRedisClient } from '../../../redis-client/clients/node-redis/node-redis-client.js';
import type { NodeRedisCluster } from '../../../redis-client/clients/node-redis/cluster-client.js';
import type { NodeRedisSentinel } from '../../../redis-client/clients/node-redis/sentinel-client.js';
import type { RedisClient } from '../../../redis-client/redis-client.js';

/** Milliseconds for a client to say goodbye. */
const QUIT_TIMEOUT = 1_000;

/** Closes a client after the commands that it has sent. */
export async function closeGivenClient(client: GivenClient): Promise<void> {
  if (isNodeRedisClient(client)) return closeNodeRedis(client);
  if (isNodeRedisSentinel(client)) return closeSentinel(client);
  if (isNodeRedisCluster(client)) return closeCluster(client);
  const { quit, disconnect } = client as RedisClient & Partial<Redis>;
  const goodbye = Promise.resolve(quit?.call(client)); // it rejects where the connection is gone already
  await waitAtMost(systemClock, QUIT_TIMEOUT, goodbye);
  disconnect?.call(client);
}

/** Its own `close` would wait for a server that hangs, and could not be ended then. */
async function closeNodeRedis(client: NodeRedisClient): Promise<void> {
  if (client.isOpen) await waitAtMost(systemClock, QUIT_TIMEOUT, client.sendCommand(['PING']));
  destroyClient(client);
}

/** It waits for a search for the master that is under way. */
async function closeSentinel(client: NodeRedisSentinel): Promise<void> {
  const closed = Promise.resolve(client.isOpen && client.destroy());
  await waitAtMost(systemClock, QUIT_TIMEOUT, closed);
}

/** As for one server: of its nodes, those that answer have answered everything before. */
async function closeCluster(client: NodeRedisCluster): Promise<void> {
  if (!client.isOpen) return;
  const nodes = client.masters.flatMap(({ client: node }) => (node as NodeRedisClient) ?? []);
  const answers = Promise.allSettled(nodes.map((node) => node.sendCommand(['PING'])));
  await waitAtMost(systemClock, QUIT_TIMEOUT, answers);
  client.destroy();
}
