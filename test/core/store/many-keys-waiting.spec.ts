import * as fc from 'fast-check';
import { LockService, LockTimeoutError, MemoryLockStore } from 'nest-holdfast/core';
import type { Lock, LockStore } from 'nest-holdfast/core';
import { FakeClock } from 'nest-holdfast/testing';
import { sleep } from '../../../lib/core/async/sleep';
import { watch } from '../support/outcome';
import { SingleKeyStore } from '../support/single-key-store';

/** A store that takes several keys at once, does not say which one was refused, and has no queue. */
function polled(clock: FakeClock): LockStore {
  const memory = new MemoryLockStore(clock);
  return {
    name: 'polled',
    supports: { fencing: true, ttl: true, manyKeys: true, readLocks: true, semaphores: true },
    tryAcquire: (request) => memory.tryAcquire(request),
  };
}

const STORES: readonly (readonly [string, (clock: FakeClock) => LockStore])[] = [
  ['a store with a line', (clock) => new MemoryLockStore(clock)],
  ['a store that takes one key at a time', (clock) => new SingleKeyStore(clock)],
  ['a store that is polled', polled],
];

/** Two processes. */
function twoOn(storeAt: (clock: FakeClock) => LockStore) {
  const clock = new FakeClock(50_000);
  const store = storeAt(clock);
  const options = { clock, waitTimeout: 5_000 };
  const locks = new LockService(store, options);
  const others = new LockService(store, options);
  return { clock, store, locks, others };
}

describe.each(STORES)('who waits for several keys on %s', (_, storeAt) => {
  it.each([
    ['a', 'b'],
    ['b', 'a'],
  ])('leaves the others to every caller while %s is held', async (taken, free) => {
    const { clock, locks, others } = twoOn(storeAt);
    const held = await others.acquire(taken);
    const both = watch(locks.acquire(['a', 'b']));
    await clock.advance(50);
    for (const service of [locks, others]) {
      const lock = await service.tryAcquire(free);
      expect(lock?.isHeld).toBe(true);
      await lock!.release();
      await clock.advance(400);
    }
    await held.release();
    await clock.advance(1_000);
    expect(both.value?.keys).toEqual(['a', 'b']);
    expect(await others.tryAcquire(['a', 'b'])).toBeUndefined();
    await both.value!.release();
    expect(await locks.tryAcquire(['a', 'b'])).toBeDefined();
  });

  it('stands in no way of those for whom the holder waits', async () => {
    const { clock, locks, others } = twoOn(storeAt);
    const nested = (service: LockService, outer: string, inner: string, work: number) =>
      service.withLock(outer, async () => {
        await sleep(clock, work);
        await service.withLock(inner, () => sleep(clock, 10));
      });
    const all = [
      watch(nested(others, 'a', 'c', 200)),
      watch(nested(locks, 'c', 'b', 300)),
      watch(sleep(clock, 100).then(() => locks.withLock(['a', 'b'], () => sleep(clock, 10)))),
    ];
    await clock.advance(2_500);
    expect(all.map(({ status, error }) => error ?? status)).toEqual(all.map(() => 'fulfilled'));
  });

  it('goes back to the line of its process for a key that was taken meanwhile', async () => {
    const { clock, locks, others } = twoOn(storeAt);
    const away = await others.acquire('a');
    const both = watch(locks.acquire(['a', 'b']));
    await clock.advance(50);
    const here = await locks.acquire('b');
    await away.release();
    await clock.advance(1_000);
    expect(both.status).toBe('pending');
    expect(await others.tryAcquire('a')).toBeDefined(); // it holds nothing while it waits
    await here.release();
    await clock.advance(1_000);
    expect(both.status).toBe('pending');
    await others.close();
    await clock.advance(1_000);
    expect(both.value?.keys).toEqual(['a', 'b']);
  });

  it.each(['the signal', 'the deadline', 'the service'])(
    'leaves nothing behind when %s ends the wait',
    async (what) => {
      for (const taken of ['in the store', 'here']) {
        const { clock, store, locks, others } = twoOn(storeAt);
        const away = await others.acquire('a');
        const controller = new AbortController();
        const both = watch(locks.acquire(['a', 'b'], { signal: controller.signal }));
        await clock.advance(50);
        if (taken === 'here') {
          await locks.acquire('b');
          await away.release();
          await clock.advance(700);
        }
        if (what === 'the signal') controller.abort(new Error('enough'));
        if (what === 'the service') locks.endWaits();
        await clock.advance(what === 'the deadline' ? 5_000 : 0);
        expect(both.status).toBe('rejected');
        if (what === 'the deadline') expect(both.error).toBeInstanceOf(LockTimeoutError);
        await Promise.all([others.close(), locks.close()]);
        const next = new LockService(store, { clock });
        expect(await next.tryAcquire(['a', 'b'])).toBeDefined();
        await next.close();
        expect(clock.pendingTimers).toBe(0);
      }
    },
  );

  it('excludes, and is granted at last, beside any other requests', async () => {
    const keys = fc.subarray(['a', 'b', 'c', 'd'], { minLength: 1 });
    const request = fc.record({ keys, process: fc.nat(1), after: fc.nat(30), work: fc.nat(20) });
    await fc.assert(
      fc.asyncProperty(fc.array(request, { minLength: 2, maxLength: 8 }), async (requests) => {
        const { clock, locks, others } = twoOn(storeAt);
        const held: Lock[] = [];
        const work = (rest: number) => async (lock: Lock) => {
          for (const other of held)
            expect(other.keys.filter((key) => lock.keys.includes(key))).toEqual([]);
          held.push(lock);
          await sleep(clock, rest);
          held.splice(held.indexOf(lock), 1);
        };
        const all = requests.map(async ({ keys: some, process, after, work: rest }) => {
          await sleep(clock, after);
          const service = process === 0 ? locks : others;
          return service.withLock(some, { waitTimeout: Infinity }, work(rest));
        });
        const outcomes = all.map((one) => watch(one));
        await clock.advance(20_000);
        expect(outcomes.map(({ status, error }) => error ?? status)).toEqual(
          outcomes.map(() => 'fulfilled'),
        );
      }),
      { numRuns: 15 },
    );
  });
});
