import { RedisLocks } from '../../../stores/redis/locks.js';
import { openChannel } from '../../processes/worker-channel.js';

const KEYS = 20;

export type HolderMessage =
  { held: number } | { event: 'jeopardy' | 'lost' | 'recovered' } | { ended: string };

/** Holds locks, waits for others, and reports what happens, until it is told to stop. */
async function main(url: string): Promise<void> {
  const channel = openChannel<HolderMessage, 'stop'>();
  const own = new RedisLocks(url, { ttl: 4_000, waitTimeout: 60_000, storeTimeout: 3_000 });
  for (const event of ['jeopardy', 'lost', 'recovered'] as const) {
    own.locks.events.on(event, () => channel.send({ event }));
  }
  own.locks.events.on('lost', () => {
    throw new Error('of a listener'); // must not end the process either
  });
  const names = Array.from({ length: KEYS }, (_, index) => `key:${index}`);
  const held = await Promise.all(names.map((name) => own.locks.acquire(name)));
  const waits = names.map((name) =>
    own.locks.acquire(name, { waitTimeout: 2_000 }).then(
      () => channel.send({ ended: 'acquired' }),
      (error: { code: string }) => channel.send({ ended: error.code }),
    ),
  );
  channel.send({ held: held.length });
  channel.onMessage(() => {
    Promise.all(waits)
      .then(() => own[Symbol.asyncDispose]())
      .then(() => process.exit(0))
      .catch((error: unknown) => {
        console.error(error);
        process.exit(1);
      });
  });
}

void main(process.argv[2]!);
