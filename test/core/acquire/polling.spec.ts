import * as fc from 'fast-check';
import { LockService, MemoryLockStore } from 'nest-holdfast/core';
import { FakeClock } from 'nest-holdfast/testing';
import { sleep } from '../../../lib/core/async/sleep';
import { onFakeStore } from '../support/setup';
import { watch } from '../support/outcome';

/** The times between the attempts for a key that stays held. */
async function delaysOf(retryDelay: number, retryJitter: number): Promise<number[]> {
  const { locks, store, clock } = onFakeStore({ retryDelay, retryJitter, retryCount: 20 });
  const attempts: number[] = [];
  store.onAcquire = () => {
    attempts.push(clock.now());
    return Promise.resolve(undefined);
  };
  watch(locks.acquire('a', { waitTimeout: Infinity }));
  await clock.advance(21 * (retryDelay + retryJitter));
  expect(clock.pendingTimers).toBe(0);
  return attempts.slice(1).map((at, index) => at - attempts[index]!);
}

describe('the delay between two attempts', () => {
  afterEach(() => jest.restoreAllMocks());

  it('is within retryDelay plus or minus retryJitter', async () => {
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 1, max: 500 }), fc.nat(300), async (delay, jitter) => {
        const delays = await delaysOf(delay, jitter);
        expect(delays).toHaveLength(20);
        for (const each of delays) {
          expect(each).toBeGreaterThanOrEqual(Math.max(0, delay - jitter) - 0.001);
          expect(each).toBeLessThanOrEqual(delay + jitter + 0.001);
        }
      }),
      { numRuns: 50 },
    );
  });

  it.each([
    [0, 100],
    [0.5, 200],
    [0.75, 250],
  ])('spreads over both sides: random %d waits %d ms', async (random, expected) => {
    jest.spyOn(Math, 'random').mockReturnValue(random);
    expect((await delaysOf(200, 100))[0]).toBe(expected);
  });

  it('never goes below 0', async () => {
    jest.spyOn(Math, 'random').mockReturnValue(0);
    const { locks, store, clock } = onFakeStore({
      retryDelay: 10,
      retryJitter: 50,
      retryCount: 2,
    });
    store.onAcquire = () => Promise.resolve(undefined);
    const schedule = jest.spyOn(clock, 'schedule');
    watch(locks.acquire('a'));
    await clock.advance(0);
    expect(store.requests).toHaveLength(3);
    for (const [ms] of schedule.mock.calls) expect(ms).toBeGreaterThanOrEqual(0);
  });

  it('differs from one attempt to the next', async () => {
    const delays = await delaysOf(200, 100);
    expect(new Set(delays).size).toBeGreaterThan(15);
  });
});

it('of 100 callers with 50 ms of work each, none is refused', async () => {
  const clock = new FakeClock();
  const store = new MemoryLockStore(clock);
  let working = 0;
  let atOnce = 0;
  // Every caller is a process of its own: the hardest case, for no caller knows of the others.
  const callers = Array.from({ length: 100 }, () =>
    watch(
      new LockService(store, { clock }).withLock('till', async () => {
        atOnce = Math.max(atOnce, ++working);
        await sleep(clock, 50);
        working--;
      }),
    ),
  );
  await clock.advance(10_000);
  expect(callers.filter(({ status }) => status !== 'fulfilled')).toEqual([]);
  expect(atOnce).toBe(1);
});
