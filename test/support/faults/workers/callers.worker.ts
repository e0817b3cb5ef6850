import { AppInstance } from '../../../stores/support/app-instance.js';
import { openChannel } from '../../processes/worker-channel.js';

/** So many callers ask at once. */
export interface CallersOrder {
  readonly callers: number;
}

/** When a caller asked for the lock and had it, in milliseconds by the clock of the machine. */
export interface Served {
  readonly asked: number;
  readonly granted: number;
}

export type CallersMessage = 'ready' | Served;

const now = () => Number(process.hrtime.bigint()) / 1e6;

/** Lets callers wait for `order:42` in strict order. */
async function main(url: string): Promise<void> {
  const channel = openChannel<CallersMessage, CallersOrder>();
  const own = new AppInstance(url, { localPassLimit: 0, waitTimeout: Infinity });
  await Promise.all([1, 2].map(() => own.locks.withLock('warm-up', async () => {})));
  const ask = async () => {
    const asked = now();
    const served = await own.locks.withLock('order:42', async () => ({ asked, granted: now() }));
    channel.send(served);
  };
  const askAll = ({ callers }: CallersOrder) => {
    for (let index = 0; index < callers; index++)
      ask().catch((error: unknown) => console.error(error));
  };
  channel.onMessage(askAll);
  channel.send('ready');
}

void main(process.argv[2]!);
