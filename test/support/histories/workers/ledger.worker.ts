import { RedisLocks } from '../../../stores/redis/locks.js';
import { openChannel } from '../../processes/worker-channel.js';
import { Ledger } from '../ledger.js';

const [url, file, workers] = process.argv.slice(2) as [string, string, string];
const channel = openChannel<'ready' | 'stopped', 'stop'>();
const ledger = new Ledger(file);
const own = new RedisLocks(url, { ttl: 1_000, waitTimeout: 60_000, retryDelay: 60, retryJitter: 60 }); // prettier-ignore
const stop = new AbortController();
channel.onMessage(() => stop.abort());

/** A lock may be lost here when the machine is busy, or end before it is handed out: then the fence has to hold. */
async function worker(): Promise<void> {
  while (!stop.signal.aborted) {
    await own.locks
      .withLock('ledger', (lock) => ledger.count(lock.fencingToken))
      .catch((error: { code?: string }) => {
        if (!/^LOCK_(LOST|STORE_FAILED)$/.test(error.code ?? '')) throw error;
      });
  }
}

channel.send('ready');
void Promise.all(Array.from({ length: Number(workers) }, worker)).then(async () => {
  await own[Symbol.asyncDispose]();
  channel.send('stopped');
});
