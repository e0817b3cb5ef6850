import { Redis } from 'ioredis';
import { type LockStore, MemoryLockStore, RedisLockStore } from 'nest-holdfast';

/** On a Redis, with one connection for all, or in memory where there is no URL. */
export async function openStore(url: string | undefined): Promise<LockStore> {
  if (!url) return new MemoryLockStore();
  const client = new Redis(url, { autoResubscribe: false });
  await client.ping();
  return new RedisLockStore(client);
}
