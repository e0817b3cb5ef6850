import { AppInstance } from '../../../stores/support/app-instance.js';
import { openChannel } from '../../processes/worker-channel.js';

export type WaiterMessage = 'ready' | 'held' | 'released';
export type WaiterOrder = 'wait' | 'take' | 'release';

/** Takes `order:42` or waits for it, and gives it back, each when told. */
async function main(url: string, ttl: number): Promise<void> {
  const channel = openChannel<WaiterMessage, WaiterOrder>();
  const own = new AppInstance(url, { ttl, waitTimeout: Infinity });
  await own.locks.withLock('warm-up', async () => {});
  let giveBack = () => {};
  const orders = {
    wait: () =>
      own.locks.withLock('order:42', () => {
        channel.send('held');
        return new Promise<void>((resolve) => (giveBack = resolve));
      }),
    take: () => orders.wait(),
    release: async () => giveBack(),
  };
  channel.onMessage((order) => {
    orders[order]().then(
      () => order === 'release' || channel.send('released'),
      (error: unknown) => console.error(error),
    );
  });
  channel.send('ready');
}

void main(process.argv[2]!, Number(process.argv[3]));
