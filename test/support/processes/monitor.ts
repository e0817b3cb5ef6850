import type { Redis } from 'ioredis';

/** ioredis takes a first line that comes together with the answer to MONITOR for the answer to another command. */
const TOO_EARLY = /^Command queue state error/;

/** A client that tells what the server of `client` is sent, by its event `monitor`. The caller disconnects it. */
export async function monitorOf(client: Redis): Promise<Redis> {
  for (;;) {
    const monitor = client.duplicate({ monitor: true, lazyConnect: false });
    const error = await new Promise<Error | undefined>((resolve) => {
      monitor.on('error', resolve); // and stays: several lines may have come too early
      monitor.once('monitoring', () => resolve(undefined));
    });
    if (error === undefined) return monitor;
    monitor.disconnect();
    if (!TOO_EARLY.test(error.message)) throw error;
  }
}
