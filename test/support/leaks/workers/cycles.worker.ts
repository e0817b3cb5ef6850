import { LockService } from 'nest-holdfast';
import { openChannel } from '../../processes/worker-channel.js';
import { type Footprint, countTimers, footprint } from '../footprint.js';
import { openStore } from '../open-store.js';

const WARM_UP = 20_000;
const CONCURRENCY = 64;

export interface CyclesReport {
  readonly before: Footprint;
  readonly after: Footprint;
}

/** Takes and frees `count` locks, no key twice. Some are watched, some extended. */
async function cycle(locks: LockService, name: string, count: number): Promise<void> {
  let next = 0;
  const worker = async () => {
    while (next < count) {
      const index = next++;
      const lock = await locks.acquire(`${name}:${index}`);
      if (index % 10 === 0) lock.signal.throwIfAborted();
      if (index % 100 === 0) await lock.extend(20_000);
      if (!(await lock.release())) throw new Error(`${lock.key} was lost`);
    }
  };
  await Promise.all(Array.from({ length: CONCURRENCY }, worker));
}

async function main([count, url]: string[]): Promise<void> {
  const channel = openChannel<CyclesReport>();
  countTimers();
  const locks = new LockService(await openStore(url));
  await cycle(locks, 'warm-up', WARM_UP);
  const before = await footprint();
  await cycle(locks, 'order', Number(count));
  channel.send({ before, after: await footprint() });
}

void main(process.argv.slice(2));
