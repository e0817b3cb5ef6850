import { readFileSync } from 'node:fs';
import { RedisLocks } from '../../../stores/redis/locks.js';
import { openChannel } from '../../processes/worker-channel.js';

export type SuspendedMessage =
  | 'held'
  | { readonly isHeld: boolean; readonly remaining: number; readonly isAborted: boolean }
  | { readonly lost: string };

/** Milliseconds between two looks, and those after which this process must have been stopped. */
const LOOK = 5;
const STOPPED = 1_000;

/**
 * Holds `order:42`, and tells what its lock says in the first moment after it was stopped for long. Its monotonic clock has
 * missed the milliseconds in `missedFile`, as that of a machine has which was suspended.
 */
async function main(url: string, missedFile: string): Promise<void> {
  const monotonic = performance.now.bind(performance);
  performance.now = () => monotonic() - Number(readFileSync(missedFile, 'utf8'));
  const channel = openChannel<SuspendedMessage>();
  const own = new RedisLocks(url, { ttl: 2_000 });
  const lock = await own.locks.acquire('order:42');
  let last = Date.now();
  setInterval(() => {
    const now = Date.now();
    if (now - last > STOPPED) {
      const { isHeld, remaining } = lock;
      channel.send({ isHeld, remaining, isAborted: lock.signal.aborted });
    }
    last = now;
  }, LOOK);
  lock.signal.addEventListener('abort', () => {
    channel.send({ lost: (lock.signal.reason as { reason: string }).reason });
  });
  channel.send('held');
}

void main(process.argv[2]!, process.argv[3]!);
