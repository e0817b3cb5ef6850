import { deferred, never, watch } from './support/outcome';
import { onFakeStore } from './support/setup';

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
