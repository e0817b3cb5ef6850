import { RedisLocks } from '../../../stores/redis/locks.js';
import { openChannel } from '../../processes/worker-channel.js';
import { writeFenced } from '../fenced-write.js';

export type SuccessorMessage = 'waiting' | 'written';

/** Waits for `order:42`, writes what it guards, and keeps the lock. */
async function main(url: string): Promise<void> {
  const channel = openChannel<SuccessorMessage>();
  const own = new RedisLocks(url, { ttl: 60_000, waitTimeout: Infinity, retryDelay: 10 });
  await own.locks.tryAcquire('warm-up');
  const acquiring = own.locks.acquire('order:42');
  channel.send('waiting');
  const lock = await acquiring;
  await writeFenced(own.redis, 'successor', lock.fencingToken);
  channel.send('written');
}

void main(process.argv[2]!);
