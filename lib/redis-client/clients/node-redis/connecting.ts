import { systemClock } from '../../../core/async/clock.js';
import { sleep } from '../../../core/async/sleep.js';
import type { NodeRedisClient } from './node-redis-client.js';

/** Hears why a server answers and cannot be used yet. */
export type Waits = (reason: Error) => void;

/** Milliseconds between two questions whether the server has loaded its data. */
const PAUSE = 100;

/** Resolves once the server has loaded its data, as ioredis waits for it. */
export async function connectToServer(client: NodeRedisClient, waits: Waits): Promise<void> {
  await client.connect();
  while ((await infoOf(client, 'persistence', 'loading')) === '1') {
    waits(new Error('LOADING the server loads its data'));
    await sleep(systemClock, PAUSE);
  }
}

/** A sentinel may still name a master that was replaced. */
export async function connectToMaster(client: NodeRedisClient, waits: Waits): Promise<void> {
  await connectToServer(client, waits);
  const role = await infoOf(client, 'replication', 'role');
  if (role === 'slave') throw new Error('the sentinels name a replica');
}

/** `undefined` where the server forbids the question. */
async function infoOf(client: NodeRedisClient, section: string, field: string) {
  const info = await client.sendCommand(['INFO', section]).catch(() => '');
  return new RegExp(`^${field}:(\\w+)`, 'm').exec(String(info))?.[1];
}
