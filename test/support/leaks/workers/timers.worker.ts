import { setTimeout as sleep } from 'node:timers/promises';
import { type Lock, type LockOptions, LockService } from 'nest-holdfast';
import { openChannel } from '../../processes/worker-channel.js';
import { type Footprint, countTimers, footprint } from '../footprint.js';
import { openStore } from '../open-store.js';

export interface TimersReport {
  readonly idle: Footprint;
  readonly holding: Footprint;
  /** After each way in which a lock or a wait can end. */
  readonly ended: Readonly<Record<string, Footprint>>;
}

/** The memory store keeps one timer for the expiry of a key that is still there; here every key is gone at the end. */
async function main([url]: string[]): Promise<void> {
  const channel = openChannel<TimersReport>();
  const locks = new LockService(await openStore(url), {
    ttl: 500,
    retryDelay: 10,
    retryJitter: 10,
  });
  countTimers();
  await locks.withLock('warm-up', async () => {});
  const ended: Record<string, Footprint> = {};
  const idle = await atRest();

  const lock = await taken(locks, {});
  const holding = await footprint();
  const cancel = new AbortController();
  const waits = [{ waitTimeout: 50 }, { retryCount: 1 }, { signal: cancel.signal }].map((options) =>
    locks.acquire('order:42', options).then(release, () => {}),
  );
  cancel.abort();
  await Promise.all(waits);
  await sleep(600); // long enough for several extensions
  await lock.release();
  ended['released'] = await atRest();

  const short = await taken(locks, { autoExtend: false });
  while (short.isHeld) await sleep(10);
  await sleep(50); // until the store has forgotten the key, too
  ended['expired'] = await atRest();

  const limited = await taken(locks, { maxHold: 100 });
  while (limited.isHeld) await sleep(10);
  await sleep(50);
  ended['reached maxHold'] = await atRest();

  await locks.acquire(['a', 'b', 'c']);
  await locks.close();
  ended['closed'] = await atRest();
  channel.send({ idle, holding, ended });
}

/** Once more where the machine was too busy to hand it out within its ttl. */
async function taken(locks: LockService, options: LockOptions): Promise<Lock> {
  for (;;) {
    try {
      return await locks.acquire('order:42', options);
    } catch (error) {
      if ((error as { code?: string }).code !== 'LOCK_STORE_FAILED') throw error;
    }
  }
}

/** Once the timers of deadlines have run out, and the store has seen that nothing is asked any more: a second or two. */
async function atRest(): Promise<Footprint> {
  const deadline = performance.now() + 5_000;
  let found = await footprint();
  while (found.timers > 0 && performance.now() < deadline) {
    await sleep(50);
    found = await footprint();
  }
  return found;
}

/** On a machine that is too busy to extend a lock, a wait may succeed. */
async function release(lock: Lock): Promise<void> {
  await lock.release();
}

void main(process.argv.slice(2));
