import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Fleet } from './demo/fleet.js';
import { race } from './demo/race.js';
import { startRedis } from './demo/redis-server.js';
import { report } from './demo/report.js';

/** Sells more than there is, without the lock and with it, and exits with 1 if that happened with the lock. */
async function demo(directory: string, signal: AbortSignal): Promise<void> {
  const given = process.env.REDIS_URL;
  await using own = given ? undefined : await startRedis(directory, signal);
  const redisUrl = given || own?.url;
  if (!redisUrl) console.log('Neither REDIS_URL nor a redis-server is there: one process.\n');

  const env = { STOCK_DIR: join(directory, 'stock'), REDIS_URL: redisUrl };
  const processes = redisUrl ? 3 : 1;
  await using fleet = await Fleet.start({ size: processes, env, signal });
  const unlocked = await race({ sku: 'demo-unlocked', route: '/unlocked' }, fleet.urls, signal);
  const locked = await race({ sku: 'demo-locked', route: '' }, fleet.urls, signal);

  console.log(report({ processes, store: redisUrl ? 'redis' : 'memory', unlocked, locked }));
  if (locked.oversold > 0) process.exitCode = 1;
}

async function main(): Promise<void> {
  const interrupted = new AbortController();
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.once(name, () => interrupted.abort(new Error(name)));
  }
  const directory = await mkdtemp(join(tmpdir(), 'nest-holdfast-demo-'));
  try {
    await demo(directory, interrupted.signal);
  } catch (error) {
    if (!interrupted.signal.aborted) console.error(error);
    process.exitCode = 1;
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

void main(); // never rejects
