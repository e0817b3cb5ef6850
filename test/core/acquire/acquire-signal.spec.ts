import { FakeLease } from '../support/fake-store';
import { deferred, rejectionOf, watch } from '../support/outcome';
import { inMemory, onFakeStore, onQueueStore } from '../support/setup';
import type { Lease } from 'nest-holdfast/core';

describe('options.signal', () => {
  const reason = new Error('the client went away');

  it.each(['acquire', 'tryAcquire'] as const)(
    'that has aborted refuses %s without asking the store',
    async (method) => {
      const { locks, store } = onFakeStore();
      const error = await rejectionOf(locks[method]('a', { signal: AbortSignal.abort(reason) }));
      expect(error).toBe(reason);
      expect(store.requests).toEqual([]);
    },
  );

  it('stops the wait at once, with its reason', async () => {
    const { locks, store, clock } = onFakeStore();
    store.onAcquire = () => Promise.resolve(undefined);
    const controller = new AbortController();
    const acquired = watch(locks.acquire('a', { signal: controller.signal }));
    await clock.advance(1_000);
    const before = store.requests.length;
    controller.abort(reason);
    await clock.advance(0);
    expect(acquired.error).toBe(reason);
    await clock.advance(60_000);
    expect(store.requests).toHaveLength(before);
    expect(clock.pendingTimers).toBe(0);
  });

  it('passes on a reason that is no Error', async () => {
    const { locks, store, clock } = onFakeStore();
    store.onAcquire = () => Promise.resolve(undefined);
    const controller = new AbortController();
    const acquired = watch(locks.acquire('a', { signal: controller.signal }));
    await clock.advance(1);
    controller.abort('enough');
    await clock.advance(0);
    expect(acquired).toMatchObject({ status: 'rejected', error: 'enough' });
  });

  it('may abort while the first answer is on its way, as may a wait after it', async () => {
    const { locks, store, clock } = onFakeStore();
    const controller = new AbortController();
    store.onAcquire = () => {
      controller.abort(reason);
      return Promise.resolve(undefined);
    };
    const acquired = watch(locks.acquire('a', { signal: controller.signal }));
    await clock.advance(0);
    expect(acquired.error).toBe(reason);
    expect(clock.pendingTimers).toBe(0);
  });

  it('does not release a lock that is held', async () => {
    const { locks, lease } = onFakeStore();
    const controller = new AbortController();
    const lock = await locks.acquire('a', { signal: controller.signal });
    controller.abort(reason);
    expect(lock.isHeld).toBe(true);
    expect(lock.signal.aborted).toBe(false);
    expect(lease.releases).toBe(0);
  });

  it.each([
    ['after the first attempt', undefined],
    ['after a wait', new FakeLease()],
  ])('is not listened to any more %s', async (_, firstHolder) => {
    const { locks, store, clock } = onFakeStore({ retryDelay: 10, retryJitter: 0 });
    const { signal } = new AbortController();
    const add = jest.spyOn(signal, 'addEventListener');
    const remove = jest.spyOn(signal, 'removeEventListener');
    if (firstHolder) {
      store.onAcquire = () =>
        Promise.resolve(store.requests.length === 1 ? undefined : store.lease);
    }
    watch(locks.acquire('a', { signal }));
    await clock.advance(10);
    expect(add.mock.calls.length).toBeGreaterThan(0);
    const listeners = add.mock.calls.map(([event, listener]) => [event, listener]);
    expect(remove.mock.calls).toEqual(expect.arrayContaining(listeners));
  });
});

describe('a lease that arrives after the caller gave up is released', () => {
  const reason = new Error('the client went away');

  it('on the first attempt', async () => {
    const { locks, store, lease, clock, events } = onFakeStore();
    const answer = deferred<Lease | undefined>();
    store.onAcquire = () => answer.promise;
    const controller = new AbortController();
    const acquired = watch(locks.acquire('a', { signal: controller.signal }));
    controller.abort(reason);
    await clock.advance(0);
    expect(acquired.error).toBe(reason);
    expect(lease.releases).toBe(0);
    answer.resolve(lease);
    await clock.advance(0);
    expect(lease.releases).toBe(1);
    expect(events).toEqual([]);
    expect(clock.pendingTimers).toBe(0);
  });

  it('on a later attempt', async () => {
    const { locks, store, lease, clock } = onFakeStore({ retryDelay: 10, retryJitter: 0 });
    const answer = deferred<Lease | undefined>();
    store.onAcquire = () =>
      store.requests.length === 1 ? Promise.resolve(undefined) : answer.promise;
    const controller = new AbortController();
    const acquired = watch(locks.acquire('a', { signal: controller.signal }));
    await clock.advance(10);
    controller.abort(reason);
    await clock.advance(0);
    expect(acquired.error).toBe(reason);
    answer.resolve(lease);
    await clock.advance(0);
    expect(lease.releases).toBe(1);
  });

  it('on tryAcquire', async () => {
    const { locks, store, lease, clock } = onFakeStore();
    const answer = deferred<Lease | undefined>();
    store.onAcquire = () => answer.promise;
    const controller = new AbortController();
    const acquired = watch(locks.tryAcquire('a', { signal: controller.signal }));
    controller.abort(reason);
    await clock.advance(0);
    expect(acquired.error).toBe(reason);
    answer.resolve(lease);
    await clock.advance(0);
    expect(lease.releases).toBe(1);
  });

  it('from a queue', async () => {
    const { locks, store, lease, clock } = onQueueStore();
    const answer = deferred<Lease>();
    store.acquire = () => answer.promise; // deaf to its signal
    const controller = new AbortController();
    const acquired = watch(locks.acquire('a', { signal: controller.signal }));
    await clock.advance(10);
    controller.abort(reason);
    await clock.advance(0);
    expect(acquired.error).toBe(reason);
    answer.resolve(lease);
    await clock.advance(0);
    expect(lease.releases).toBe(1);
  });

  it('and a release that fails, or throws, is handled', async () => {
    for (const onRelease of [
      () => Promise.reject(new Error('down')),
      () => {
        throw new Error('down');
      },
    ]) {
      const { locks, store, lease, clock } = onFakeStore();
      lease.onRelease = onRelease;
      const answer = deferred<Lease | undefined>();
      store.onAcquire = () => answer.promise;
      const controller = new AbortController();
      const acquired = watch(locks.acquire('a', { signal: controller.signal }));
      controller.abort(reason);
      answer.resolve(lease);
      await clock.advance(0);
      expect(acquired.error).toBe(reason);
      expect(lease.releases).toBe(1);
    }
  });

  it('and nothing is left in the store', async () => {
    const { locks, others, store, clock } = inMemory();
    const first = await locks.acquire('a');
    const controller = new AbortController();
    const acquired = watch(others.acquire('a', { signal: controller.signal }));
    await clock.advance(1_000);
    controller.abort(reason);
    await first.release();
    await clock.advance(0);
    expect(acquired.error).toBe(reason);
    expect(await store.inspect('a')).toBeUndefined();
    expect(clock.pendingTimers).toBe(0);
  });
});
