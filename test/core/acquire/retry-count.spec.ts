import { LockTimeoutError } from 'nest-holdfast/core';
import { watch, type Outcome } from '../support/outcome';
import { inMemory, onFakeStore, onQueueStore } from '../support/setup';
import type { FakeClock } from 'nest-holdfast/testing';

/** As users of other libraries write it: three more attempts, 100 ms apart. */
const THREE_TIMES = { retryCount: 3, retryDelay: 100, retryJitter: 0, waitTimeout: 10_000 };

/** A key that stays held, and a caller of it. */
type Held = () => Promise<{ readonly clock: FakeClock; readonly refused: Outcome<unknown> }>;

const WAITS: readonly [where: string, held: Held][] = [
  [
    'between attempts, where the store is polled',
    async () => {
      const { locks, store, clock } = onFakeStore(THREE_TIMES);
      store.onAcquire = () => Promise.resolve(undefined);
      return { clock, refused: watch(locks.acquire('a')) };
    },
  ],
  [
    'in the queue of the store',
    async () => {
      const { locks, clock } = onQueueStore(THREE_TIMES);
      return { clock, refused: watch(locks.acquire('a')) };
    },
  ],
  [
    'behind a caller of the same process',
    async () => {
      const { locks, clock } = inMemory();
      await locks.acquire('a');
      return { clock, refused: watch(locks.acquire('a', THREE_TIMES)) };
    },
  ],
];

describe('retryCount: 3 and retryDelay: 100', () => {
  it.each(WAITS)('end a wait after 300 ms %s', async (_, held) => {
    const { clock, refused } = await held();
    await clock.advance(299);
    expect(refused.status).toBe('pending');
    await clock.advance(1);
    expect(refused.error).toBeInstanceOf(LockTimeoutError);
    expect(refused.error).toMatchObject({
      waitTimeout: 300,
      message: expect.stringContaining('was not acquired within 300 ms'),
    });
  });

  it('do not make a wait longer than waitTimeout', async () => {
    const { locks, clock } = onQueueStore(THREE_TIMES);
    const refused = watch(locks.acquire('a', { waitTimeout: 50 }));
    await clock.advance(50);
    expect(refused.error).toMatchObject({ waitTimeout: 50 });
  });

  it('as defaults leave the waitTimeout to a call that tries for ever', async () => {
    const { locks, clock } = onQueueStore(THREE_TIMES);
    const acquired = watch(locks.acquire('a', { retryCount: Infinity }));
    await clock.advance(9_999);
    expect(acquired.status).toBe('pending');
    await locks.close();
  });
});

it.each([{ retryCount: 0 }, { waitTimeout: 0 }])(
  '%j is one attempt, and its error says so',
  async (options) => {
    const { locks, clock, store } = onQueueStore();
    const refused = watch(locks.acquire('a', options));
    await clock.advance(0);
    expect(refused.error).toMatchObject({
      waitTimeout: 0,
      message: 'Lock "a" was not acquired: it is held (attempts: 1)',
    });
    expect(store.queued).toBe(0);
  },
);
