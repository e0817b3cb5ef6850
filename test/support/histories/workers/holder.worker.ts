import { RedisLocks } from '../../../stores/redis/locks.js';
import { openChannel } from '../../processes/worker-channel.js';

export interface Holding {
  readonly fencingToken: string;
}

/** Takes the key as soon as it is free, and keeps it until the process dies. */
async function main([url, ttl]: string[]): Promise<void> {
  const channel = openChannel<Holding>();
  const own = new RedisLocks(url!, { ttl: Number(ttl), waitTimeout: Infinity, retryDelay: 5, retryJitter: 0 }); // prettier-ignore
  const lock = await own.locks.acquire('order:42');
  channel.send({ fencingToken: String(lock.fencingToken) });
}

void main(process.argv.slice(2));
