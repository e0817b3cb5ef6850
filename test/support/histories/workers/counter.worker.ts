import { appendFile, readFile, writeFile } from 'node:fs/promises';
import { RedisLocks } from '../../../stores/redis/locks.js';
import { openChannel } from '../../processes/worker-channel.js';

export interface CounterReport {
  readonly counted: number;
  readonly errors: readonly string[];
}

const [url, directory, workers] = process.argv.slice(2) as [string, string, string];
const channel = openChannel<'ready' | CounterReport, 'stop'>();
const own = new RedisLocks(url, { waitTimeout: 60_000, retryDelay: 60, retryJitter: 60 });
const errors: string[] = [];
let counted = 0;
const stop = new AbortController();
channel.onMessage(() => stop.abort());

/** A read and a write with nothing but the lock to hold them together. */
async function count(): Promise<void> {
  await own.locks.withLock('counter', async (lock) => {
    const before = Number(await readFile(`${directory}/counter`, 'utf8'));
    await appendFile(`${directory}/grants`, `${lock.fencingToken}\n`);
    await writeFile(`${directory}/counter`, String(before + 1));
    counted += 1;
  });
}

async function worker(): Promise<void> {
  while (!stop.signal.aborted) await count().catch((error: unknown) => errors.push(String(error)));
}

channel.send('ready');
void Promise.all(Array.from({ length: Number(workers) }, worker)).then(async () => {
  await own[Symbol.asyncDispose]();
  channel.send({ counted, errors });
});
