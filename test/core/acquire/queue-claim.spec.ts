import { LockStoreError, LockTimeoutError } from 'nest-holdfast/core';
import { FakeLease } from '../support/fake-store';
import { deferred, never, watch } from '../support/outcome';
import { onQueueStore } from '../support/setup';

describe('a lease that comes out of a queue is a claim', () => {
  it('and validity counts from before it was turned into a ttl', async () => {
    const { locks, store, lease, clock } = onQueueStore({ ttl: 1_000, autoExtend: false });
    const answer = deferred<boolean>();
    lease.onExtend = () => answer.promise;
    const acquired = watch(locks.acquire('a'));
    await clock.advance(3_000);
    store.grant();
    await clock.advance(200);
    answer.resolve(true);
    await clock.advance(0);
    expect(acquired.value!.remaining).toBe(788);
  });

  it('one that is gone by then goes back into the queue', async () => {
    const { locks, store, lease, clock } = onQueueStore();
    const gone = new FakeLease();
    gone.onExtend = () => Promise.resolve(false);
    const acquired = watch(locks.acquire('a', { waitTimeout: 700 }));
    await clock.advance(100);
    store.grant(gone);
    await clock.advance(0);
    expect(acquired.status).toBe('pending');
    expect(store.queued).toBe(2);
    expect(gone.releases).toBe(0);
    store.grant(lease);
    await clock.advance(0);
    expect(acquired.value?.isHeld).toBe(true);
  });

  it('but only until the deadline', async () => {
    const { locks, store, clock } = onQueueStore();
    const gone = new FakeLease();
    gone.onExtend = async () => {
      clock.jump(700);
      return false;
    };
    const acquired = watch(locks.acquire('a', { waitTimeout: 700 }));
    await clock.advance(0);
    store.grant(gone);
    await clock.advance(0);
    expect(acquired.error).toBeInstanceOf(LockTimeoutError);
    expect(store.queued).toBe(1);
  });

  it('one that could not be turned into a ttl, or may have been, is released', async () => {
    for (const onExtend of [
      () => Promise.reject(new Error('down')),
      () => {
        throw new Error('down');
      },
      never<boolean>,
    ]) {
      const { locks, store, lease, clock, events } = onQueueStore({ storeTimeout: 300 });
      lease.onExtend = onExtend;
      const acquired = watch(locks.acquire('a'));
      await clock.advance(100);
      store.grant();
      await clock.advance(300);
      expect(acquired.error).toBeInstanceOf(LockStoreError);
      expect(lease.releases).toBe(1);
      expect(events).toEqual([]);
      expect(clock.pendingTimers).toBe(0);
    }
  });

  it('also when the answer comes late: it is released again', async () => {
    const { locks, store, lease, clock } = onQueueStore({ storeTimeout: 300 });
    const answer = deferred<boolean>();
    lease.onExtend = () => answer.promise;
    watch(locks.acquire('a'));
    await clock.advance(0);
    store.grant();
    await clock.advance(300);
    answer.resolve(true);
    await clock.advance(0);
    expect(lease.releases).toBe(2);
  });

  it('one that arrives when the caller has given up is released', async () => {
    const { locks, store, lease, clock } = onQueueStore();
    const answer = deferred<typeof lease>();
    store.acquire = () => answer.promise; // deaf to its signal
    const acquired = watch(locks.acquire('a', { waitTimeout: 700 }));
    await clock.advance(700);
    expect(acquired.error).toBeInstanceOf(LockTimeoutError);
    answer.resolve(lease);
    await clock.advance(0);
    expect(lease.releases).toBe(1);
    expect(lease.extensions).toEqual([]);
  });

  it('one whose caller gave up at that moment is released', async () => {
    const { locks, store, lease, clock } = onQueueStore();
    const controller = new AbortController();
    const reason = new Error('the client went away');
    lease.onExtend = never;
    const acquired = watch(locks.acquire('a', { signal: controller.signal }));
    await clock.advance(0);
    // The claim has been taken, and the question for its ttl not yet been asked.
    const { signal } = store.waiters[0]!;
    signal.removeEventListener = () => controller.abort(reason);
    store.grant();
    await clock.advance(0);
    expect(acquired.error).toBe(reason);
    expect(lease.releases).toBe(1);
    expect(clock.pendingTimers).toBe(0);
  });

  it('one whose answer uses up its ttl is released and not handed out', async () => {
    const { locks, store, lease, clock } = onQueueStore({ ttl: 100, waitTimeout: 500 });
    const answer = deferred<boolean>();
    lease.onExtend = () => answer.promise;
    const acquired = watch(locks.acquire('a'));
    await clock.advance(0);
    store.grant();
    await clock.advance(97);
    answer.resolve(true);
    await clock.advance(0);
    expect(lease.releases).toBe(1);
    expect(acquired.status).toBe('pending');
    expect(store.queued).toBe(2);
    await clock.advance(500);
    expect(acquired.status).toBe('rejected');
  });
});

it('one of several keys whose claim is gone is waited for again, with what is free left to others', async () => {
  const { locks, store, lease, clock } = onQueueStore(
    {},
    { fencing: true, ttl: true, manyKeys: true, queuesManyKeys: true },
  );
  const gone = new FakeLease();
  gone.onExtend = () => Promise.resolve(false);
  const both = watch(locks.acquire(['a', 'b']));
  await clock.advance(0);
  expect(store.waiters.map(({ request }) => request.keys)).toEqual([['a']]);
  store.grant(gone);
  await clock.advance(0);
  expect(store.waiters.map(({ request }) => request.keys)).toEqual([['a']]);
  const first = new FakeLease();
  store.grant(first);
  await clock.advance(0);
  expect(first.releases).toBe(1); // the other one is held
  expect(store.waiters.map(({ request }) => request.keys)).toEqual([['b']]);
  const [waiter] = store.waiters;
  store.onAcquire = () => Promise.resolve(lease);
  expect((await locks.tryAcquire('a'))?.isHeld).toBe(true);
  await lease.release();
  store.grant();
  await clock.advance(0);
  expect(both.status).toBe('pending'); // another caller here has the first one
  expect(waiter!.request.token).not.toBe(store.requests.at(-1)!.token);
  await locks.close();
});
