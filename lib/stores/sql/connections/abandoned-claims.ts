import { inRootContext } from '../../../core/async/root-context.js';
import { systemClock } from '../../../core/async/clock.js';
import { sleep } from '../../../core/async/sleep.js';
import type { Holdings } from '../common/lock-table.js';

/** Milliseconds until a failed attempt is undone a second time: its statement may still have been on its way the first time. */
const ON_ITS_WAY = 500;
const FIRST_PAUSE = 50;
const LONGEST_PAUSE = 1_000;

/**
 * Undoes what a failed attempt may have left in the table. Stops when that has succeeded or the ttl has passed. Runs in the
 * background, and keeps no process alive.
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
      () => false, // the server is still away: ask again
    );
    if (isDone && isLast) return;
    isLast = isDone;
    pause = isDone ? ON_ITS_WAY : Math.min(pause * 2, LONGEST_PAUSE);
    await sleep(systemClock, pause, undefined, true);
  }
}
