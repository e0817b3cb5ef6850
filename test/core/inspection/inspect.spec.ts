import { LockKeyError, LockStoreError } from 'nest-holdfast/core';
import type { LockInspection } from 'nest-holdfast/core';
import { never, rejectionOf, watch } from '../support/outcome';
import { inMemory, onFakeStore } from '../support/setup';

describe('inspect', () => {
  it('tells who holds a key, without taking anything', async () => {
    const { locks, others, clock } = inMemory({ ttl: 1_000, autoExtend: false });
    const lock = await locks.acquire('a');
    await clock.advance(300);
    expect(await others.inspect('a')).toEqual({
      heldFor: 300,
      waiters: [],
      waiterCount: 0,
      key: 'a',
      holder: expect.stringContaining(`:${process.pid}:`),
      remaining: 700,
      fencingToken: lock.fencingToken,
    });
    expect(await others.inspect('b')).toBeUndefined();
    await lock.release();
    expect(await others.inspect('a')).toBeUndefined();
  });

  it('refuses a bad key', async () => {
    expect(await rejectionOf(inMemory().locks.inspect(''))).toBeInstanceOf(LockKeyError);
  });

  it('says that a store cannot', async () => {
    const error = await rejectionOf(onFakeStore().locks.inspect('a'));
    expect(error).toBeInstanceOf(LockStoreError);
    expect(error.message).toBe('Lock store "fake" failed for "a": it cannot inspect keys');
  });

  async function failing(inspect: (key: string) => Promise<LockInspection | undefined>) {
    const { locks, store } = onFakeStore();
    Object.assign(store, { inspect });
    return rejectionOf<LockStoreError>(locks.inspect('a'));
  }

  it('reports a store that rejects or throws', async () => {
    const down = new Error('down');
    const errors = [
      await failing(() => Promise.reject(down)),
      await failing(() => {
        throw down;
      }),
    ];
    for (const error of errors) {
      expect(error).toMatchObject({ code: 'LOCK_STORE_FAILED', key: 'a', cause: down });
      expect(error.message).toBe('Lock store "fake" failed for "a": down');
    }
  });

  it('reports a store that rejects with something else than an Error', async () => {
    const error = await failing(() => Promise.reject(undefined));
    expect(error.message).toBe('Lock store "fake" failed for "a": undefined');
  });

  it('does not wait for a store that hangs', async () => {
    const { locks, store, clock } = onFakeStore({ storeTimeout: 300 });
    Object.assign(store, { inspect: never });
    const inspected = watch(locks.inspect('a'));
    await clock.advance(300);
    expect((inspected.error as Error).message).toContain('no answer within 300 ms');
    expect(clock.pendingTimers).toBe(0);
  });
});
