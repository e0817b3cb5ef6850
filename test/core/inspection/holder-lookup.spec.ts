import { LockTimeoutError } from 'nest-holdfast/core';
import type { LockInspection } from 'nest-holdfast/core';
import { never, watch } from '../support/outcome';
import { onFakeStore } from '../support/setup';

const ONE_TRY = { retryCount: 1, retryDelay: 10, retryJitter: 0, waitTimeout: 1_000 };

/** A store on which every key is held, as `inspect` says. */
function held(inspect: (key: string) => Promise<Partial<LockInspection> | undefined>) {
  const around = onFakeStore(ONE_TRY);
  const asked: string[] = [];
  const heard = async (key: string) => {
    asked.push(key);
    const found = await inspect(key);
    return found && { key, ...found };
  };
  Object.assign(around.store, { inspect: heard, onAcquire: () => Promise.resolve(undefined) });
  return { ...around, asked };
}

const answer = (found: Partial<LockInspection>) => () => Promise.resolve(found);

describe('the holder in the error of a wait', () => {
  it.each([
    ['one holder', { holder: 'one:1:2' }, { heldBy: 'one:1:2' }],
    ['the first of several', { holders: ['one:1:2', 'two:1:2'] }, { heldBy: 'one:1:2' }],
    ['since when', { heldFor: 20 }, { heldFor: 20 }],
    ['both', { holder: 'one:1:2', heldFor: 20 }, { heldBy: 'one:1:2', heldFor: 20 }],
  ])('is named where the store knows %s', async (_, found, expected) => {
    const { locks, clock } = held(answer(found));
    const acquired = watch(locks.acquire('a'));
    await clock.advance(100);
    const { heldBy, heldFor } = acquired.error as LockTimeoutError & { heldFor?: number };
    expect({ heldBy, heldFor }).toEqual({ heldBy: undefined, heldFor: undefined, ...expected });
  });

  it.each([
    ['nothing', answer({})],
    ['that the key is free by now', () => Promise.resolve(undefined)],
    ['an error', () => Promise.reject(new Error('down'))],
    ['what is no answer', () => Promise.resolve({ key: 5 } as never)],
  ])('is missing where the store says %s', async (_, inspect) => {
    const { locks, clock } = held(inspect);
    const acquired = watch(locks.acquire('a'));
    await clock.advance(100);
    expect(acquired.error).toBeInstanceOf(LockTimeoutError);
    expect((acquired.error as LockTimeoutError).heldBy).toBeUndefined();
    expect((acquired.error as Error).message).not.toContain(', for');
  });

  it('is waited for no longer than 100 ms', async () => {
    const { locks, clock } = held(never);
    const acquired = watch(locks.acquire('a'));
    await clock.advance(109);
    expect(acquired.status).toBe('pending');
    await clock.advance(1);
    expect(acquired.error).toBeInstanceOf(LockTimeoutError);
    expect(clock.pendingTimers).toBe(0);
  });

  it('is asked for once by all who give up at the same time, and anew later', async () => {
    const { locks, clock, asked } = held(answer({ holder: 'one:1:2' }));
    const first = [1, 2, 3].map(() =>
      watch(locks.acquire('a', { waitTimeout: 50, retryCount: 99 })),
    );
    await clock.advance(200);
    expect(first.map(({ error }) => (error as LockTimeoutError).heldBy)).toEqual(Array(3).fill('one:1:2')); // prettier-ignore
    const before = asked.length;
    watch(locks.acquire('a'));
    await clock.advance(200);
    expect(asked.length).toBe(before + 1);
  });

  it('is asked for by ten of many keys', async () => {
    const keys = Array.from({ length: 12 }, (_, index) => `k${String(index).padStart(2, '0')}`);
    const { locks, clock, asked } = held(async (key) =>
      key === 'k09' ? { holder: 'one:1:2' } : {},
    );
    const acquired = watch(locks.acquire(keys));
    await clock.advance(200);
    expect(asked).toEqual(keys.slice(0, 10));
    expect(acquired.error).toMatchObject({ heldBy: 'one:1:2' });
  });
});
