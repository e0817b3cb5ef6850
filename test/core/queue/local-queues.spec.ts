import { getEventListeners } from 'node:events';
import { LockLostError, LockStoreError, LockTimeoutError } from 'nest-holdfast/core';
import { deferred, never, watch } from '../support/outcome';
import { inMemory, onFakeStore } from '../support/setup';

describe('the callers of one process', () => {
  it('are one contender for the store', async () => {
    const { locks, store, clock } = onFakeStore();
    store.onAcquire = never;
    for (let index = 0; index < 5; index++) watch(locks.acquire('a'));
    watch(locks.acquire('b'));
    await clock.advance(0);
    expect(store.requests.map(({ key }) => key)).toEqual(['a', 'b']);
  });

  it('all ask a store that queues them itself, at once', async () => {
    const { locks, store } = onFakeStore({}, { fencing: true, ttl: true, queuesAllCallers: true });
    store.onAcquire = never;
    for (let index = 0; index < 3; index++) watch(locks.acquire('a'));
    expect(store.requests).toHaveLength(3);
  });

  it('get the key in the order of their calls, without polling', async () => {
    const { locks, clock } = inMemory();
    const order: number[] = [];
    await Promise.all(
      [1, 2, 3, 4].map((index) => locks.withLock('a', async () => void order.push(index))),
    );
    expect(order).toEqual([1, 2, 3, 4]);
    expect(clock.pendingTimers).toBe(0);
  });

  it('are refused without asking the store where one attempt was wanted', async () => {
    const { locks, store, clock } = onFakeStore();
    await locks.acquire('a');
    expect(await locks.tryAcquire('a')).toBeUndefined();
    for (const options of [{ waitTimeout: 0 }, { retryCount: 0 }]) {
      const refused = watch(locks.acquire('a', options));
      await clock.advance(0);
      expect(refused.error).toBeInstanceOf(LockTimeoutError);
      expect((refused.error as Error).message).toMatch(
        /^Lock "a" was not acquired.*: another caller of this process holds it, or waits for it$/,
      );
    }
    expect(store.requests).toHaveLength(1);
  });

  it('go on when the lock before is lost', async () => {
    const { locks, store, clock } = onFakeStore({ ttl: 1_000, autoExtend: false });
    const first = await locks.acquire('a');
    const second = watch(locks.acquire('a'));
    await clock.advance(988);
    expect(first.state).toBe('lost');
    expect(second.value?.isHeld).toBe(true);
    expect(store.requests).toHaveLength(2);
  });

  it('wait for the reply to a release, for the next one would ask too early and then pause', async () => {
    const { locks, store, lease, clock } = onFakeStore();
    const reply = deferred<boolean>();
    lease.onRelease = () => reply.promise;
    const first = await locks.acquire('a');
    const second = watch(locks.acquire('a'));
    void first.release();
    await clock.advance(100);
    expect(store.requests).toHaveLength(1);
    reply.resolve(true);
    await clock.advance(0);
    expect(second.value?.isHeld).toBe(true);
  });
});

describe('a caller who gives up in line', () => {
  it('at its own deadline, disturbs no other caller', async () => {
    const { locks, clock } = inMemory();
    const first = await locks.acquire('a');
    const second = watch(locks.acquire('a', { waitTimeout: 300 }));
    const third = watch(locks.acquire('a', { waitTimeout: 1_000 }));
    await clock.advance(300);
    expect(second.error).toBeInstanceOf(LockTimeoutError);
    expect(third.status).toBe('pending');
    await first.release();
    await clock.advance(0);
    expect(third.value?.isHeld).toBe(true);
  });

  it('by its signal, disturbs no other caller', async () => {
    const { locks, clock } = inMemory();
    const controller = new AbortController();
    const first = await locks.acquire('a');
    const second = watch(locks.acquire('a', { signal: controller.signal }));
    const third = watch(locks.acquire('a'));
    const reason = new Error('enough');
    controller.abort(reason);
    await first.release();
    await clock.advance(0);
    expect(second.error).toBe(reason);
    expect(third.value?.isHeld).toBe(true);
  });

  it('leaves no timer and no listener', async () => {
    const { locks, clock } = inMemory({ autoExtend: false, ttl: 60_000 });
    const controller = new AbortController();
    const first = await locks.acquire('a');
    const all = Array.from({ length: 100 }, () =>
      watch(locks.acquire('a', { signal: controller.signal, waitTimeout: Infinity })),
    );
    controller.abort();
    await first.release();
    await clock.advance(0);
    expect(all.every(({ status }) => status === 'rejected')).toBe(true);
    expect(getEventListeners(controller.signal, 'abort')).toEqual([]);
    expect(clock.pendingTimers).toBe(0);
  });

  it('is told of a closed service at once', async () => {
    const { locks, clock } = inMemory();
    await locks.acquire('a');
    const second = watch(locks.acquire('a'));
    await locks.close();
    await clock.advance(0);
    expect(second.error).toBeInstanceOf(LockStoreError);
    expect(String(second.error)).toContain('closed');
  });
});

describe('a store that fails', () => {
  it('fails the one who asked, and the next one asks for itself', async () => {
    const { locks, store, lease, clock } = onFakeStore();
    const answer = deferred<typeof lease>();
    store.onAcquire = () => answer.promise;
    const first = watch(locks.acquire('a'));
    const second = watch(locks.acquire('a'));
    await clock.advance(0);
    store.onAcquire = () => Promise.resolve(lease);
    answer.reject(new Error('down'));
    await clock.advance(0);
    expect(first.error).toBeInstanceOf(LockStoreError);
    expect(second.value?.isHeld).toBe(true);
  });

  it('is what a caller hears of whose time is up in line, and not that the key is held', async () => {
    const { locks, store, clock } = onFakeStore({ storeTimeout: 400, waitTimeout: 1_000 });
    store.onAcquire = never;
    const all = Array.from({ length: 5 }, () => watch(locks.acquire('a')));
    await clock.advance(1_000);
    for (const { error } of all) expect(error).toBeInstanceOf(LockStoreError);
    expect(String(all[4]!.error)).toContain('no answer within 400 ms');
  });

  it('and grants again is forgotten', async () => {
    const { locks, store, lease, clock } = onFakeStore({ waitTimeout: 1_000 });
    const answer = deferred<typeof lease>();
    store.onAcquire = () => answer.promise;
    const [, second, third] = [1, 2, 3].map(() => watch(locks.acquire('a')));
    await clock.advance(0);
    store.onAcquire = () => Promise.resolve(lease);
    answer.reject(new Error('down'));
    await clock.advance(1_000);
    expect(second!.value?.isHeld).toBe(true);
    expect(third!.error).toBeInstanceOf(LockTimeoutError);
  });

  it('and answers again is forgotten', async () => {
    const { locks, store, clock } = onFakeStore({ storeTimeout: 400, waitTimeout: 1_000 });
    store.onAcquire = never;
    const first = watch(locks.acquire('a'));
    const others = [1, 2].map(() => watch(locks.acquire('a')));
    await clock.advance(300);
    store.onAcquire = () => Promise.resolve(undefined);
    await clock.advance(700);
    expect(first.error).toBeInstanceOf(LockStoreError);
    for (const { error } of others) expect(error).toBeInstanceOf(LockTimeoutError);
  });
});

describe('several keys', () => {
  it('wait until all are free, and block none of them meanwhile', async () => {
    const { locks, clock } = inMemory();
    const a = await locks.acquire('a');
    const b = await locks.acquire('b');
    const both = watch(locks.acquire(['b', 'a']));
    const later = watch(locks.acquire('a'));
    await a.release();
    await clock.advance(0);
    expect([both.status, later.status]).toEqual(['pending', 'fulfilled']);
    await b.release();
    await clock.advance(0);
    expect(both.status).toBe('pending');
    await later.value!.release();
    await clock.advance(0);
    expect(both.value?.isHeld).toBe(true);
  });

  it('never wait for one who holds one of them and wants another', async () => {
    const { locks, clock } = inMemory({ waitTimeout: Infinity });
    const b = await locks.acquire('b');
    const both = watch(locks.acquire(['a', 'b']));
    const a = watch(locks.acquire('a'));
    await clock.advance(0);
    expect(a.value?.isHeld).toBe(true);
    await a.value!.release();
    await b.release();
    await clock.advance(0);
    expect(both.value?.isHeld).toBe(true);
  });

  it('leave every line when their caller gives up', async () => {
    const { locks, clock } = inMemory();
    const b = await locks.acquire('b');
    const both = watch(locks.acquire(['a', 'b'], { waitTimeout: 300 }));
    const a = watch(locks.acquire('a'));
    await clock.advance(300);
    expect(both.error).toBeInstanceOf(LockTimeoutError);
    expect(a.value?.isHeld).toBe(true);
    const next = watch(locks.acquire('b'));
    await b.release();
    await clock.advance(0);
    expect(next.value?.isHeld).toBe(true);
  });

  it('never wait for each other', async () => {
    const { locks } = inMemory();
    let done = 0;
    const work = async () => void done++;
    await Promise.all(
      Array.from({ length: 20 }, (_, index) =>
        locks.withLock(index % 2 ? ['a', 'b', 'c'] : ['c', 'b', 'a'], work),
      ),
    );
    expect(done).toBe(20);
  });
});

it('a lock that was lost in line of many tells only its own holder', async () => {
  const { locks, clock } = inMemory({ maxHold: 500, waitTimeout: 2_000 });
  const first = await locks.acquire('a');
  const second = watch(locks.acquire('a'));
  await clock.advance(500);
  expect(() => first.assertHeld()).toThrow(LockLostError);
  await clock.advance(300);
  expect(second.value?.isHeld).toBe(true);
});
