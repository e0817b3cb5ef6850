import { inRootContext } from '../../core/async/root-context.js';
import { sleep, systemClock } from '../../core/clock.js';
import type { Holdings } from './lock-table.js';

/** Milliseconds before an attempt is taken back again: it may have been on its way when it was first taken back. */
const ON_ITS_WAY = 500;
const FIRST_PAUSE = 50;
const LONGEST_PAUSE = 1_000;

/**
 * Takes back what a failed attempt may have left, until that was possible or the ttl has passed. Nobody waits for it, and it
 * keeps no process alive.
 */
export function takeBack(table: Holdings, key: string, token: string, ttl: number): void {
  void inRootContext(() => insist(table, key, token, ttl));
}

/** Never rejects. */
async function insist(table: Holdings, key: string, token: string, ttl: number): Promise<void> {
  const giveUpAt = systemClock.now() + ttl;
  for (let pause = FIRST_PAUSE, isLast = false; systemClock.now() < giveUpAt;) {
    const isDone = await table.release(key, token).then(
      () => true,
      () => false, // the server is still away, and is asked again
    );
    if (isDone && isLast) return;
    isLast = isDone;
    pause = isDone ? ON_ITS_WAY : Math.min(pause * 2, LONGEST_PAUSE);
    await sleep(systemClock, pause, undefined, true);
  }
}
