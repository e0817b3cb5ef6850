import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Fleet } from './demo/fleet.js';
import { race } from './demo/race.js';
import { report } from './demo/report.js';
import { chooseStorage } from './demo/storage.js';

/** Sells more than there is, without the lock and with it, and exits with 1 if that happened with the lock. */
async function demo(directory: string, signal: AbortSignal): Promise<void> {
  await using storage = await chooseStorage(directory, signal);
  const { store, processes } = storage;
  const env = { STOCK_DIR: join(directory, 'stock'), ...storage.env };
  await using fleet = await Fleet.start({ size: processes, env, signal });
  const unlocked = await race({ sku: 'demo-unlocked', route: '/unlocked' }, fleet.urls, signal);
  const locked = await race({ sku: 'demo-locked', route: '' }, fleet.urls, signal);

  console.log(report({ processes, store, unlocked, locked }));
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
