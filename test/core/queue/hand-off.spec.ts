import { LockLostError, LockStoreError } from 'nest-holdfast/core';
import type { Lease, LockServiceOptions } from 'nest-holdfast/core';
import { PassableLease } from '../support/fake-store';
import { deferred, never, watch } from '../support/outcome';
import { onFakeStore } from '../support/setup';

/** A held lock, one caller in line behind it, and a store that can pass leases on. */
async function inLine(options?: LockServiceOptions, next: LockServiceOptions = {}) {
  const around = onFakeStore(options);
  const lease = new PassableLease();
  around.store.onAcquire = () => Promise.resolve(lease);
  const first = await around.locks.acquire('a');
  const second = watch(around.locks.acquire('a', next));
  return { ...around, lease, first, second };
}

describe('a lease that is handed off inside the process', () => {
  it('costs no command, and carries a larger fencing token', async () => {
    const { store, lease, first, second, clock } = await inLine();
    await clock.advance(100);
    expect(await first.release()).toBe(true);
    await clock.advance(0);
    expect(second.value?.isHeld).toBe(true);
    expect(second.value!.fencingToken).toBe(first.fencingToken + 1n);
    expect(lease.passes).toEqual([{ ttl: 30_000, renew: false }]);
    expect(lease.releases).toBe(0);
    expect(store.requests).toHaveLength(1);
  });

  it('is a lock of its own: the one before is dead, and neither tells the other', async () => {
    const { first, second, clock, events } = await inLine();
    const { signal } = first;
    await first.release();
    await clock.advance(0);
    const lock = second.value!;
    expect(first.state).toBe('released');
    expect(() => first.assertHeld()).toThrow(LockLostError);
    expect(await first.release()).toBe(true);
    expect(lock.isHeld).toBe(true);
    expect(signal.aborted).toBe(false);
    expect(lock.signal).not.toBe(signal);
    expect(events).toEqual(['held', 'released', 'held']);
  });

  it('keeps the validity it had', async () => {
    const { first, second, clock } = await inLine({ ttl: 1_000 });
    await clock.advance(300);
    await first.release();
    await clock.advance(0);
    expect(second.value!.remaining).toBe(688);
  });

  it('starts a new maxHold', async () => {
    const { first, second, clock } = await inLine({ ttl: 1_000 }, { ttl: 1_000, maxHold: 1_500 });
    await clock.advance(300);
    await first.release();
    await clock.advance(1_480);
    expect(second.value!.isHeld).toBe(true);
    await clock.advance(20);
    expect(second.value!.state).toBe('lost');
  });

  it('goes from one to the next, and back to the store after the last', async () => {
    const { locks, store, lease, first, second, clock } = await inLine();
    const tokens: bigint[] = [];
    const work = async () => void tokens.push(locks.current()!.fencingToken);
    const all = Promise.all(Array.from({ length: 5 }, () => locks.withLock('a', work)));
    await first.release();
    await clock.advance(0);
    await second.value!.release();
    await all;
    expect(tokens).toEqual([3n, 4n, 5n, 6n, 7n]);
    expect(store.requests).toHaveLength(1);
    expect(lease.releases).toBe(0);
  });
});

describe('a lease is renewed before it is handed off', () => {
  it('when less than half of its ttl is left', async () => {
    const around = await inLine({ ttl: 1_000, autoExtend: false }, { autoExtend: true });
    const { lease, first, second, clock } = around;
    await clock.advance(489);
    await first.release();
    await clock.advance(0);
    expect(lease.passes).toEqual([{ ttl: 1_000, renew: true }]);
    expect(second.value!.remaining).toBe(988);
  });

  it('when the next holder does not extend it: it has its whole ttl for its work', async () => {
    const { lease, first, second, clock } = await inLine({ ttl: 1_000 }, { autoExtend: false });
    await clock.advance(300);
    await first.release();
    await clock.advance(0);
    expect(lease.passes).toEqual([{ ttl: 1_000, renew: true }]);
    expect(second.value!.remaining).toBe(988);
    await clock.advance(987);
    expect(second.value!.isHeld).toBe(true);
  });

  it('but not while no more than a hundredth of its ttl has passed, though the next holder does not extend it', async () => {
    const { lease, first, second, clock } = await inLine({ ttl: 1_000 }, { autoExtend: false });
    await clock.advance(10);
    await first.release();
    await clock.advance(0);
    expect(lease.passes).toEqual([{ ttl: 1_000, renew: false }]);
    expect(second.value!.remaining).toBe(978);
  });

  it('when a maxHold cut its ttl short, though half of what the next holder wants is left', async () => {
    const options = { ttl: 1_000, maxHold: 1_500 };
    const { lease, first, second, clock } = await inLine(options, { maxHold: 60_000 });
    await clock.advance(720);
    expect(lease.extensions).toEqual([1_000, 833]);
    await first.release();
    await clock.advance(0);
    expect(lease.passes).toEqual([{ ttl: 1_000, renew: true }]);
    expect(second.value!.remaining).toBe(988);
  });

  it('when the next holder wants another ttl', async () => {
    const { lease, first, second, clock } = await inLine({}, { ttl: 2_000 });
    await first.release();
    await clock.advance(0);
    expect(lease.passes).toEqual([{ ttl: 2_000, renew: true }]);
    expect(second.value!.remaining).toBe(1_978);
  });

  it('with a validity from before the store was asked', async () => {
    const { lease, first, second, clock } = await inLine({ ttl: 1_000, autoExtend: false });
    const answer = deferred<Lease | undefined>();
    lease.onPass = () => answer.promise;
    const released = watch(first.release());
    await clock.advance(200);
    expect([released.status, second.status]).toEqual(['pending', 'pending']);
    answer.resolve(lease.next());
    await clock.advance(0);
    expect(released.value).toBe(true);
    expect(second.value!.remaining).toBe(788);
  });

  it('and is lost to the one before when the store has it no more; the next one asks for itself', async () => {
    const { store, lease, first, second, clock, events } = await inLine();
    lease.onPass = () => Promise.resolve(undefined);
    const released = watch(first.release());
    await clock.advance(0);
    expect(released.value).toBe(false);
    expect(first.state).toBe('lost');
    await clock.advance(0);
    expect(store.requests).toHaveLength(2);
    expect(second.value?.isHeld).toBe(true);
    expect(events).toEqual(['held', 'lost', 'held']);
  });

  it('and when that fails, both hear of it, and the one behind asks for itself', async () => {
    const { locks, store, lease, first, second, clock, events } = await inLine();
    const third = watch(locks.acquire('a'));
    lease.onPass = () => Promise.reject(new Error('down'));
    const released = watch(first.release());
    await clock.advance(0);
    expect(released.value).toBe(false);
    expect(second.error).toBeInstanceOf(LockStoreError);
    expect(third.value?.isHeld).toBe(true);
    expect(store.requests).toHaveLength(2);
    expect(events).toEqual(['held', 'released', 'releaseFailed', 'held']);
  });

  it('and is released when its next holder has given up meanwhile', async () => {
    const { lease, first, second, clock } = await inLine({}, { waitTimeout: 300 });
    const answer = deferred<Lease | undefined>();
    lease.onPass = () => answer.promise;
    void first.release();
    await clock.advance(300);
    expect(second.status).toBe('rejected');
    const late = lease.next();
    answer.resolve(late);
    await clock.advance(0);
    expect(late.releases).toBe(1);
  });

  it('and is not handed out when the answer used it up', async () => {
    const { store, lease, first, second, clock } = await inLine({ ttl: 100, autoExtend: false });
    const answer = deferred<Lease | undefined>();
    lease.onPass = () => answer.promise;
    void first.release();
    await clock.advance(97);
    const late = lease.next();
    answer.resolve(late);
    await clock.advance(0);
    expect(late.releases).toBe(1);
    expect(store.requests).toHaveLength(2);
    expect(second.value?.isHeld).toBe(true);
  });
});

describe('a lease goes back to the store', () => {
  it('when others are first', async () => {
    const { store, lease, first, second, clock } = await inLine();
    lease.onPass = () => undefined;
    await first.release();
    await clock.advance(0);
    expect(lease.releases).toBe(1);
    expect(store.requests).toHaveLength(2);
    expect(second.value?.isHeld).toBe(true);
  });

  it('when the line is empty', async () => {
    const { lease, first, clock } = await inLine({}, { waitTimeout: 300 });
    await clock.advance(300);
    await first.release();
    expect(lease.passes).toEqual([]);
    expect(lease.releases).toBe(1);
  });

  it('when it has to stay for a minHold', async () => {
    const { lease, first, clock } = await inLine({ minHold: 5_000 });
    await first.release();
    await clock.advance(0);
    expect(lease.passes).toEqual([]);
    expect(lease.extensions).toEqual([5_000]);
  });

  it('while an extension is on its way, which could shorten the ttl', async () => {
    const { lease, first, clock } = await inLine();
    lease.onExtend = never;
    watch(first.extend(100));
    await clock.advance(0);
    void first.release();
    expect(lease.passes).toEqual([]);
    expect(lease.releases).toBe(1);
  });

  it('when it is one of several keys, or several are wanted', async () => {
    for (const [held, wanted] of [
      [['a', 'b'], 'a'],
      ['a', ['a', 'b']],
    ] as const) {
      const { locks, store, clock } = onFakeStore();
      const lease = new PassableLease();
      store.onAcquire = () => Promise.resolve(lease);
      const first = await locks.acquire(held);
      const second = watch(locks.acquire(wanted));
      await first.release();
      await clock.advance(0);
      expect(lease.passes).toEqual([]);
      expect(second.value?.isHeld).toBe(true);
    }
  });

  it('when it was lost', async () => {
    const { lease, first, second, clock } = await inLine({ ttl: 1_000, autoExtend: false });
    await clock.advance(988);
    expect(await first.release()).toBe(false);
    expect(lease.passes).toEqual([]);
    await clock.advance(0);
    expect(second.value?.isHeld).toBe(true);
  });
});
