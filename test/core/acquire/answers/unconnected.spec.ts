import { LockStoreError } from 'nest-holdfast/core';
import type { LockServiceOptions } from 'nest-holdfast/core';
import { watch } from '../../support/outcome';
import { onFakeStore } from '../../support/setup';

const refused = new Error('connect ECONNREFUSED');

/** A store whose client has no connection, and tries again and again. */
function unconnected(failure: unknown, options?: LockServiceOptions) {
  const around = onFakeStore(options);
  Object.assign(around.store, { connectionFailure: () => failure });
  return around;
}

describe('a store whose client has no connection', () => {
  it.each(['acquire', 'tryAcquire'] as const)('fails one attempt at once: %s', async (method) => {
    const { locks, store, clock } = unconnected(refused);
    const acquired = watch(locks[method]('a', { waitTimeout: 0 }));
    await clock.advance(0);
    expect(acquired.error).toBeInstanceOf(LockStoreError);
    expect(acquired.error).toMatchObject({ cause: refused });
    expect(store.requests).toEqual([]);
    expect(clock.pendingTimers).toBe(0);
  });

  it('is asked all the same by a call that may wait', async () => {
    const { locks, store } = unconnected(refused);
    await locks.acquire('a', { waitTimeout: 1 });
    expect(store.requests).toHaveLength(1);
    await locks.close();
  });

  it('is asked all the same by the one attempt of a tick', async () => {
    const { locks, store } = unconnected(refused);
    await locks.tryAcquire('a', { minHold: 1 });
    expect(store.requests).toHaveLength(1);
    await locks.close();
  });

  it('is asked by one attempt once it has one', async () => {
    const { locks, store } = unconnected(undefined);
    await locks.acquire('a', { waitTimeout: 0 });
    await locks.tryAcquire('b');
    expect(store.requests).toHaveLength(2);
    await locks.close();
  });
});
