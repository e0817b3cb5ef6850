import type { RedisServer } from '../servers/redis-server.js';
import { until } from '../until.js';

/** Resolves when nothing is left on the server but fencing counters, each of which expires. */
export async function nothingLeft(server: RedisServer): Promise<void> {
  await until(async () => (await leftBehind(server)).length === 0, {
    what: 'nothing to be left on the server but expiring counters',
  });
}

/** Every key but the fencing counters that expire. */
export async function leftBehind(server: RedisServer): Promise<string[]> {
  const keys = (await server.command('KEYS', '*')) as string[];
  const isCounter = async (key: string) =>
    key.includes(':fence') && Number(await server.command('TTL', key)) > 0;
  const expected = await Promise.all(keys.map(isCounter));
  return keys.filter((_, index) => !expected[index]);
}
