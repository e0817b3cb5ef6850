import { setTimeout } from 'node:timers/promises';
import { LockService } from 'nest-holdfast';
import { type StoreAddress, openStore } from '../../../support/histories/workers/open-store.js';
import { openChannel } from '../../../support/processes/worker-channel.js';

/** One of the permits was held, in nanoseconds of the machine's monotonic clock. */
export interface Held {
  readonly from: number;
  readonly to: number;
}
export type Answer = 'ready' | 'inside' | Held;

const now = (): number => Number(process.hrtime.bigint());

/** Each of its callers takes one of three permits once, and keeps it until all are told to go on, and a little longer. */
async function main([kind, address, ttl, callers]: string[]): Promise<void> {
  const channel = openChannel<Answer, 'go on'>();
  const goOn = new Promise<void>((resolve) => channel.onMessage(() => resolve()));
  const { store } = await openStore({ kind, address } as StoreAddress, Number(ttl));
  const polling = { retryDelay: 20, retryJitter: 20 };
  const locks = new LockService(store, { ttl: Number(ttl), waitTimeout: 20_000, ...polling });
  channel.send('ready');
  const call = () =>
    locks.withPermit('export', { permits: 3 }, async () => {
      const from = now();
      channel.send('inside');
      await goOn;
      await setTimeout(20);
      channel.send({ from, to: now() });
    });
  await Promise.all(Array.from({ length: Number(callers) }, call));
}

void main(process.argv.slice(2));
