import { LockStoreError, LockTimeoutError } from 'nest-holdfast/core';
import type { AcquireRequest, LockInspection, LockServiceOptions } from 'nest-holdfast/core';
import { FakeLease } from '../../support/fake-store';
import { sleep } from '../../../../lib/core/async/sleep.js';
import { never, watch } from '../../support/outcome';
import { onQueueStore } from '../../support/setup';

/** A store with a queue, which is asked for its holder as the test says. */
function inspectable(
  inspect: (key: string) => Promise<LockInspection | undefined>,
  options?: LockServiceOptions,
) {
  const around = onQueueStore(options);
  const asked: string[] = [];
  const heard = (key: string) => {
    asked.push(key);
    return inspect(key);
  };
  Object.assign(around.store, { inspect: heard });
  return { ...around, asked };
}

const held = (key: string): Promise<LockInspection> =>
  Promise.resolve({ key, holder: 'other:1:2' });

describe('a wait in the queue of a store', () => {
  it('asks for a sign of life a second before its deadline, and once', async () => {
    const { locks, clock, asked } = inspectable(never);
    const acquired = watch(locks.acquire('a', { waitTimeout: 5_000 }));
    await clock.advance(3_999);
    expect(asked).toEqual([]);
    await clock.advance(1);
    expect(asked).toEqual(['a']);
    await clock.advance(999);
    expect(asked).toEqual(['a']);
    expect(acquired.status).toBe('pending');
    await locks.close();
  });

  it.each([1, 500, 1_000])('of %i ms asks for none', async (waitTimeout) => {
    const { locks, clock, asked } = inspectable(never);
    const acquired = watch(locks.acquire('a', { waitTimeout }));
    await clock.advance(waitTimeout - 1);
    expect(asked).toEqual([]);
    await clock.advance(1);
    expect(asked).toEqual(['a']); // for the name of the holder
    await clock.advance(100);
    expect(acquired.error).toBeInstanceOf(LockTimeoutError);
  });

  it('asks for none where the store has answered within the last second', async () => {
    const { locks, store, clock, asked } = inspectable(never);
    store.onAcquire = () => sleep(clock, 1_900).then(() => undefined);
    const acquired = watch(locks.acquire('a', { waitTimeout: 2_500 }));
    await clock.advance(2_499);
    expect(asked).toEqual([]);
    await clock.advance(101);
    expect(acquired.error).toBeInstanceOf(LockTimeoutError);
  });

  it('ends as a failure of the store that gives no sign', async () => {
    const { locks, clock } = inspectable(never);
    const acquired = watch(locks.acquire('a', { waitTimeout: 5_000 }));
    await clock.advance(5_000);
    expect(acquired.error).toBeInstanceOf(LockStoreError);
    expect((acquired.error as Error).message).toBe(
      'Lock store "fake" failed for "a": no answer within 1000 ms',
    );
    expect(clock.pendingTimers).toBe(0);
  });

  it('ends as a failure of the store that answers with an error', async () => {
    const down = new Error('down');
    const { locks, clock } = inspectable(() => Promise.reject(down));
    const acquired = watch(locks.acquire('a', { waitTimeout: 5_000 }));
    await clock.advance(5_000);
    expect(acquired.error).toMatchObject({ code: 'LOCK_STORE_FAILED', cause: down });
  });

  it('ends as a timeout where the store has given one', async () => {
    const { locks, clock } = inspectable(held);
    const acquired = watch(locks.acquire('a', { waitTimeout: 5_000 }));
    await clock.advance(5_100);
    expect(acquired.error).toBeInstanceOf(LockTimeoutError);
    expect(acquired.error).toMatchObject({ heldBy: 'other:1:2' });
  });

  it('ends as a timeout on a silent store whose key this service itself holds', async () => {
    const { locks, store, clock } = inspectable(never, { autoExtend: false });
    store.onAcquire = () => Promise.resolve(new FakeLease());
    await locks.acquire('b');
    await locks.acquire('a', { ttl: 60_000 });
    const waits = watch(locks.acquire('a', { waitTimeout: 5_000 }));
    await clock.advance(5_200);
    expect(waits.error).toBeInstanceOf(LockTimeoutError);
    store.onAcquire = () => Promise.resolve(undefined);
    const other = watch(locks.acquire('c', { waitTimeout: 5_000 }));
    await clock.advance(5_200);
    expect(other.error).toBeInstanceOf(LockStoreError);
    await locks.close();
  });
});

describe('a store that knows itself whether its queue is served', () => {
  function knowing(failure: unknown) {
    const around = inspectable(held);
    const calls: [what: string, request: AcquireRequest][] = [];
    Object.assign(around.store, {
      beforeDeadline: (request: AcquireRequest) => calls.push(['before', request]),
      waitFailure(request: AcquireRequest) {
        calls.push(['failure', request]);
        return failure;
      },
    });
    return { ...around, calls };
  }

  it('is told of the deadline a second before, with the request, and not inspected', async () => {
    const { locks, store, clock, calls, asked } = knowing(undefined);
    const acquired = watch(locks.acquire('a', { waitTimeout: 5_000 }));
    await clock.advance(3_999);
    expect(calls).toEqual([]);
    const { request } = store.waiters[0]!;
    await clock.advance(1);
    expect(calls).toEqual([['before', request]]);
    expect(asked).toEqual([]);
    await clock.advance(1_000);
    expect(calls.slice(1)).toEqual([['failure', request]]);
    expect(acquired.error).toBeInstanceOf(LockTimeoutError);
  });

  it('is believed that it is not', async () => {
    const down = new Error('no heartbeat was answered');
    const { locks, clock } = knowing(down);
    const acquired = watch(locks.acquire('a', { waitTimeout: 5_000 }));
    await clock.advance(5_000);
    expect(acquired.error).toMatchObject({ code: 'LOCK_STORE_FAILED', cause: down });
  });
});

describe('a caller behind another one of its process', () => {
  it.each([1, 500, 1_000])('asks for no sign in a wait of %i ms', async (waitTimeout) => {
    const { locks, clock, asked } = inspectable(never);
    watch(locks.acquire('a', { waitTimeout: Infinity }));
    const second = watch(locks.acquire('a', { waitTimeout }));
    await clock.advance(waitTimeout - 1);
    expect(asked).toEqual([]);
    await clock.advance(101);
    expect(asked).toEqual(['a']); // for the name of the holder
    expect(second.error).toBeInstanceOf(LockTimeoutError);
    await locks.close();
  });

  it('ends as a failure of a store that has been silent', async () => {
    const { locks, clock } = inspectable(never);
    const first = watch(locks.acquire('a', { waitTimeout: Infinity }));
    const second = watch(locks.acquire('a', { waitTimeout: 5_000 }));
    await clock.advance(5_100);
    expect(first.status).toBe('pending');
    expect(second.error).toBeInstanceOf(LockStoreError);
    await locks.close();
  });
});

describe('a lease out of a queue that has its ttl already', () => {
  it('is not extended, and counts from when it was asked for', async () => {
    const { locks, store, lease, clock } = onQueueStore({ ttl: 1_000, autoExtend: false });
    const acquired = watch(locks.acquire('a'));
    await clock.advance(3_000);
    store.grant(Object.assign(lease, { claim: { age: 200, ttl: 1_000 } }));
    await clock.advance(0);
    expect(lease.extensions).toEqual([]);
    expect(acquired.value!.remaining).toBe(788);
  });

  it('with another ttl is extended to the one that was asked for', async () => {
    const { locks, store, lease, clock } = onQueueStore({ ttl: 1_000, autoExtend: false });
    const acquired = watch(locks.acquire('a'));
    await clock.advance(3_000);
    store.grant(Object.assign(lease, { claim: { age: 200, ttl: 500 } }));
    await clock.advance(0);
    expect(lease.extensions).toEqual([1_000]);
    expect(acquired.value!.remaining).toBe(988);
  });
});
