import * as fc from 'fast-check';
import { LockService } from 'nest-holdfast/core';
import type { Lock } from 'nest-holdfast/core';
import { FakeClock } from 'nest-holdfast/testing';
import { sleep } from '../../../lib/core/async/sleep';
import { rejectionOf, watch } from '../support/outcome';
import { SingleKeyStore } from '../support/single-key-store';

function onSingleKeys() {
  const clock = new FakeClock();
  const store = new SingleKeyStore(clock);
  const options = { clock, ttl: 3_000, retryDelay: 10, retryJitter: 5 };
  return { clock, store, locks: new LockService(store, options), options };
}

describe('several keys on a store that takes one at a time', () => {
  it('are taken in canonical order', async () => {
    const { locks, store } = onSingleKeys();
    const lock = await locks.acquire(['c', 'a', 'b', 'a']);
    expect(lock.keys).toEqual(['a', 'b', 'c']);
    expect(store.log).toEqual(['try a', 'try b', 'try c']);
  });

  it('have no fencing token where no request can raise one: who waits for one of them may have a smaller one', async () => {
    const { store, options } = onSingleKeys();
    Object.assign(store, { supports: { fencing: true, ttl: true, fencingFloor: false } });
    const lock = await new LockService(store, options).acquire(['a', 'b']);
    expect(store.log).toEqual(['try a', 'try b']);
    expect(() => lock.fencingToken).toThrow(/fencing/);
  });

  it('are all given back when one is held, and the ones after it are not tried', async () => {
    const { locks, store, options } = onSingleKeys();
    await new LockService(store, options).acquire('b');
    store.log.length = 0;
    expect(await locks.tryAcquire(['a', 'b', 'c'])).toBeUndefined();
    expect(store.log).toEqual(['try a', 'try b', 'release a']);
    expect(await locks.tryAcquire('a')).toBeDefined();
  });

  it('are all given back when the store fails for one', async () => {
    const { locks, store } = onSingleKeys();
    const down = new Error('down');
    store.before = ({ key }) => (key === 'c' ? Promise.reject(down) : Promise.resolve());
    const error = await rejectionOf(locks.acquire(['a', 'b', 'c']));
    expect(error).toMatchObject({ code: 'LOCK_STORE_FAILED', key: 'a, b, c', cause: down });
    expect(store.log).toEqual(['try a', 'try b', 'try c', 'release a', 'release b']);
  });

  it('have another token at each attempt: a release of the last one may come late, and free nothing', async () => {
    const { locks, store, clock, options } = onSingleKeys();
    const first = await new LockService(store, options).acquire('b');
    const tokens = new Set<string>();
    store.before = async ({ key, token }) => void (key === 'a' && tokens.add(token));
    const second = watch(locks.acquire(['a', 'b']));
    await clock.advance(100);
    expect(tokens.size).toBe(store.log.filter((call) => call === 'try a').length);
    await first.release();
    await clock.advance(15);
    expect(second.status).toBe('fulfilled');
  });

  it('are waited for together', async () => {
    const { locks, clock } = onSingleKeys();
    const first = await locks.acquire('b');
    const second = watch(locks.acquire(['a', 'b']));
    await clock.advance(1_000);
    expect(second.status).toBe('pending');
    await first.release();
    await clock.advance(15);
    expect(second.value?.keys).toEqual(['a', 'b']);
  });

  it('are extended and released together', async () => {
    const { locks, store, clock } = onSingleKeys();
    const lock = await locks.acquire(['b', 'a']);
    store.log.length = 0;
    await clock.advance(1_000);
    expect(store.log).toEqual(['extend a', 'extend b']);
    await clock.advance(30_000);
    expect(lock.isHeld).toBe(true);
    store.log.length = 0;
    expect(await lock.release()).toBe(true);
    expect(store.log).toEqual(['release a', 'release b']);
    expect(await locks.tryAcquire(['a', 'b'])).toBeDefined();
  });

  it('have one validity, from before the first was asked for', async () => {
    const { locks, store, clock } = onSingleKeys();
    store.slowBy(() => 200);
    const acquired = watch(locks.acquire(['a', 'b', 'c'], { autoExtend: false }));
    await clock.advance(600);
    expect(acquired.value!.remaining).toBe(3_000 - 32 - 600);
  });

  it('need no more than the lock itself when there is one', async () => {
    const { locks, store } = onSingleKeys();
    const lock = await locks.acquire(['a']);
    await lock.release();
    expect(store.log).toEqual(['try a', 'release a']);
  });

  it('that arrive after the caller gave up are all released', async () => {
    const { locks, store, clock } = onSingleKeys();
    store.slowBy(() => 100);
    const acquired = watch(locks.acquire(['a', 'b'], { storeTimeout: 150 }));
    await clock.advance(150);
    expect(acquired.error).toMatchObject({ code: 'LOCK_STORE_FAILED' });
    await clock.advance(100);
    expect(store.log.slice(-2)).toEqual(['release a', 'release b']);
  });
});

describe('the fencing token of several keys', () => {
  /** Grants `key` to others until its counter is at least `count`. */
  async function use(locks: LockService, key: string, count: number): Promise<void> {
    for (let i = 0; i < count; i++) await (await locks.acquire(key)).release();
  }

  it('is larger than all before it, for each of them', async () => {
    const { locks, store } = onSingleKeys();
    await use(locks, 'a', 2);
    await use(locks, 'b', 7);
    const lock = await locks.acquire(['a', 'b', 'c']);
    expect(lock.fencingToken).toBe(8n);
    for (const key of ['a', 'b', 'c']) expect(store.counterOf(key)).toBeGreaterThanOrEqual(8n);
    await lock.release();
    for (const key of ['a', 'b', 'c']) {
      expect((await locks.acquire(key)).fencingToken).toBeGreaterThan(8n);
    }
  });

  it('costs nothing more where the counters agree', async () => {
    const { locks, store } = onSingleKeys();
    await locks.acquire(['a', 'b']);
    expect(store.log).toEqual(['try a', 'try b']);
  });

  it('costs one more request for each key that lags behind', async () => {
    const { locks, store } = onSingleKeys();
    await use(locks, 'b', 3);
    store.log.length = 0;
    await locks.acquire(['a', 'b', 'c']);
    expect(store.log).toEqual(['try a', 'try b', 'try c', 'try a', 'try c']);
  });

  it('in any order of grants, by property', async () => {
    const sets = fc.array(fc.subarray(['a', 'b', 'c', 'd'], { minLength: 1 }), { maxLength: 20 });
    await fc.assert(
      fc.asyncProperty(sets, async (grants) => {
        const { locks } = onSingleKeys();
        const last = new Map<string, bigint>();
        for (const keys of grants) {
          const lock = await locks.acquire(keys);
          for (const key of keys) {
            expect(lock.fencingToken).toBeGreaterThan(last.get(key) ?? 0n);
            last.set(key, lock.fencingToken);
          }
          await lock.release();
        }
      }),
      { numRuns: 50 },
    );
  });
});

it('requests that cross each other never deadlock, and exclude each other', async () => {
  const keys = fc.subarray(['a', 'b', 'c', 'd'], { minLength: 1 });
  const request = fc
    .tuple(keys, fc.boolean())
    .map(([some, isReversed]) => (isReversed ? some.toReversed() : some));
  await fc.assert(
    fc.asyncProperty(
      fc.array(request, { minLength: 2, maxLength: 6 }),
      fc.infiniteStream(fc.nat(7)),
      async (requests, delays) => {
        const { clock, store, options } = onSingleKeys();
        store.slowBy(() => delays.next().value!);
        const held: Lock[] = [];
        const work = async (lock: Lock) => {
          for (const other of held) {
            expect(other.keys.filter((key) => lock.keys.includes(key))).toEqual([]);
          }
          held.push(lock);
          await sleep(clock, 20);
          held.splice(held.indexOf(lock), 1);
        };
        const all = requests.map((some) =>
          watch(new LockService(store, options).withLock(some, { waitTimeout: Infinity }, work)),
        );
        await clock.advance(20_000);
        expect(all.map(({ status, error }) => error ?? status)).toEqual(
          requests.map(() => 'fulfilled'),
        );
      },
    ),
    { numRuns: 30 },
  );
});
