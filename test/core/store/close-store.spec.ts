import { LockService } from 'nest-holdfast/core';
import type { StoreNotice } from 'nest-holdfast/core';
import { FakeClock } from 'nest-holdfast/testing';
import { FakeStore } from '../support/fake-store';
import { deferred, never, watch } from '../support/outcome';
import { onFakeStore } from '../support/setup';

/** A store that can be closed, and tells something when the test does. */
function observed() {
  const close = jest.fn();
  const tells: ((notice: StoreNotice) => void)[] = [];
  const observe = (tell: (typeof tells)[0]) => tells.push(tell);
  const store = Object.assign(new FakeStore(), { close, observe });
  return { store, lease: store.lease, clock: new FakeClock(), close, tells };
}

describe('close and its store', () => {
  afterEach(() => jest.restoreAllMocks());

  it('the store is closed last', async () => {
    const { locks, store, lease } = onFakeStore();
    const order: string[] = [];
    lease.onRelease = async () => {
      await Promise.resolve();
      order.push('released');
      return true;
    };
    Object.assign(store, {
      async close(this: unknown) {
        order.push(this === store ? 'closed' : 'not called as a method');
      },
    });
    await locks.acquire('a');
    await locks.close();
    expect(order).toEqual(['released', 'closed']);
  });

  it.each([
    ['rejects', () => Promise.reject(new Error('down'))],
    [
      'throws',
      () => {
        throw new Error('down');
      },
    ],
  ])('never rejects: a store that %s is a warning', async (_, close) => {
    const warn = jest.spyOn(process, 'emitWarning').mockReturnValue();
    const { locks, store } = onFakeStore();
    Object.assign(store, { close });
    await locks.close();
    expect(warn).toHaveBeenCalledWith('Lock store "fake" was not closed: down');
  });

  it('a store that another service uses stays open, and tells that one', async () => {
    const { store, lease, clock, close, tells } = observed();
    const first = new LockService(store, { clock });
    const other = new LockService(store, { clock });
    await first.close();
    await first.close();
    expect(close).not.toHaveBeenCalled();
    await other.acquire('a');
    for (const tell of tells) tell({ type: 'doubt', reason: 'restarted' });
    await clock.advance(0);
    expect(lease.extensions).toHaveLength(1);
    await other.close();
    expect(close).toHaveBeenCalledTimes(1);
  });

  it('a store that is used again after it was closed is observed and closed again', async () => {
    const { store, lease, clock, close, tells } = observed();
    await new LockService(store, { clock }).close();
    const again = new LockService(store, { clock });
    await again.acquire('a');
    for (const tell of tells) tell({ type: 'doubt', reason: 'restarted' });
    await clock.advance(0);
    expect(lease.extensions).toHaveLength(1);
    await again.close();
    expect(close).toHaveBeenCalledTimes(2);
  });

  it('a store that has nothing to close is no reason for a warning', async () => {
    const warn = jest.spyOn(process, 'emitWarning').mockReturnValue();
    await onFakeStore().locks.close();
    expect(warn).not.toHaveBeenCalled();
  });

  it('warns once of a store that hangs first and rejects then', async () => {
    const warn = jest.spyOn(process, 'emitWarning').mockReturnValue();
    const { locks, store, clock } = onFakeStore({ storeTimeout: 300 });
    const answer = deferred<void>();
    Object.assign(store, { close: () => answer.promise });
    const closed = watch(locks.close());
    await clock.advance(300);
    answer.reject(new Error('down'));
    await clock.advance(0);
    expect(closed.status).toBe('fulfilled');
    expect(warn.mock.calls).toEqual([
      ['Lock store "fake" was not closed: no answer within 300 ms'],
    ]);
  });

  it('does not wait for ever for a store that hangs', async () => {
    const warn = jest.spyOn(process, 'emitWarning').mockReturnValue();
    const { locks, store, lease, clock, events } = onFakeStore({ storeTimeout: 300 });
    Object.assign(store, { close: never });
    lease.onRelease = never;
    await locks.acquire('a');
    store.onAcquire = never;
    const acquired = watch(locks.acquire('b'));
    const closed = watch(locks.close());
    await clock.advance(600);
    expect(acquired.status).toBe('rejected');
    expect(closed.status).toBe('fulfilled');
    expect(events).toEqual(['held', 'lost', 'releaseFailed']);
    expect(warn).toHaveBeenCalledTimes(1);
    expect(clock.pendingTimers).toBe(0);
  });
});
