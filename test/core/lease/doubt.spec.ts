import { LockService } from 'nest-holdfast/core';
import type {
  LockServiceOptions,
  LockStoreFeatures,
  StoreDoubt,
  StoreNotice,
} from 'nest-holdfast/core';
import { FakeClock } from 'nest-holdfast/testing';
import { FakeLease, FakeStore, eventsOf } from '../support/fake-store';
import { deferred, never } from '../support/outcome';

const REASON = 'the server was started again';

/** A store that doubts its grants when the test says so. */
class DoubtfulStore extends FakeStore {
  readonly #tells: ((notice: StoreNotice) => void)[] = [];

  observe(tell: (notice: StoreNotice) => void): void {
    this.#tells.push(tell);
  }

  doubt(concerns?: StoreDoubt['concerns']): void {
    for (const tell of this.#tells) tell({ type: 'doubt', reason: REASON, concerns });
  }
}

function onDoubtfulStore(options: LockServiceOptions = {}, supports?: LockStoreFeatures) {
  const clock = new FakeClock(50_000);
  const store = new DoubtfulStore(supports);
  const locks = new LockService(store, { clock, ttl: 3_000, ...options });
  return { clock, store, locks, lease: store.lease, events: eventsOf(locks) };
}

describe('when the store doubts its grants, a held lock', () => {
  it('is in jeopardy, is extended at once, and has recovered when that succeeds', async () => {
    const { clock, store, locks, lease, events } = onDoubtfulStore();
    const answer = deferred<boolean>();
    lease.onExtend = () => answer.promise;
    const jeopardy = jest.fn();
    locks.events.on('jeopardy', jeopardy);
    const lock = await locks.acquire('a');
    await clock.advance(500);
    store.doubt();
    expect(lock.state).toBe('jeopardy');
    expect(lock.isHeld).toBe(true);
    expect(lease.extensions).toEqual([3_000]);
    expect(jeopardy).toHaveBeenCalledWith(
      expect.objectContaining({ key: 'a', remaining: 2_468, error: new Error(REASON) }),
    );
    answer.resolve(true);
    await clock.advance(0);
    expect(lock.state).toBe('held');
    expect(lock.remaining).toBe(2_968);
    expect(events).toEqual(['held', 'jeopardy', 'recovered']);
    await clock.advance(999);
    expect(lease.extensions).toHaveLength(1);
    await clock.advance(1);
    expect(lease.extensions).toHaveLength(2);
  });

  it('is lost when the store does not know it any more', async () => {
    const { clock, store, locks, lease, events } = onDoubtfulStore();
    const lock = await locks.acquire('a');
    const { signal } = lock;
    lease.onExtend = () => Promise.resolve(false);
    store.doubt();
    await clock.advance(0);
    expect(signal.reason).toMatchObject({ code: 'LOCK_LOST', reason: 'gone' });
    expect(events).toEqual(['held', 'jeopardy', 'lost']);
    expect(clock.pendingTimers).toBe(0);
  });

  it('is extended again at a tenth of its ttl while the store fails', async () => {
    const { clock, store, locks, lease, events } = onDoubtfulStore();
    const lock = await locks.acquire('a');
    lease.onExtend = () => Promise.reject(new Error('no master'));
    store.doubt();
    await clock.advance(299);
    expect(lease.extensions).toHaveLength(1);
    lease.onExtend = () => Promise.resolve(true);
    await clock.advance(1);
    expect(lease.extensions).toHaveLength(2);
    expect(lock.state).toBe('held');
    expect(events).toEqual(['held', 'jeopardy', 'jeopardy', 'recovered']);
  });

  it('ends with its validity where the store does not answer', async () => {
    const { clock, store, locks, lease, events } = onDoubtfulStore();
    const { signal } = await locks.acquire('a');
    lease.onExtend = never;
    store.doubt();
    await clock.advance(2_968);
    expect(signal.reason).toMatchObject({ reason: 'expired' });
    expect(events.at(-1)).toBe('lost');
    await clock.advance(10_000);
    expect(clock.pendingTimers).toBe(0);
  });

  it('is asked for once more when an extension was under way, and not by its timer as well', async () => {
    const { clock, store, locks, lease } = onDoubtfulStore();
    await locks.acquire('a');
    const answers = [deferred<boolean>(), deferred<boolean>()];
    lease.onExtend = () => answers[lease.extensions.length - 1]?.promise ?? Promise.resolve(true);
    await clock.advance(900);
    store.doubt();
    await clock.advance(200); // its third of the ttl has passed
    store.doubt();
    expect(lease.extensions).toHaveLength(1);
    answers[0]!.resolve(true);
    await clock.advance(0);
    expect(lease.extensions).toHaveLength(2);
    answers[1]!.resolve(true);
    await clock.advance(999);
    expect(lease.extensions).toHaveLength(2);
    await clock.advance(1);
    expect(lease.extensions).toHaveLength(3);
  });

  it('keeps its end with autoExtend: false', async () => {
    const { clock, store, locks, lease } = onDoubtfulStore({ autoExtend: false });
    const lock = await locks.acquire('a');
    await clock.advance(1_000);
    const before = lock.remaining;
    store.doubt();
    await clock.advance(0);
    expect(lease.extensions).toEqual([before]);
    expect(lock.state).toBe('held');
    expect(lock.remaining).toBeLessThanOrEqual(before);
    expect(lock.remaining).toBeGreaterThan(before * 0.98);
    await clock.advance(before);
    expect(lock.isHeld).toBe(false);
    expect(lease.extensions).toHaveLength(1);
    expect(clock.pendingTimers).toBe(0);
  });

  it('keeps the end that maxHold gave it', async () => {
    const { clock, store, locks } = onDoubtfulStore({ maxHold: 2_000 });
    const lock = await locks.acquire('a');
    const { signal } = lock;
    await clock.advance(1_500);
    store.doubt();
    await clock.advance(400);
    expect(lock.isHeld).toBe(true);
    await clock.advance(100);
    expect(signal.reason).toMatchObject({ reason: 'max-hold' });
  });

  it('is left alone when the doubt does not concern its keys', async () => {
    const { clock, store, locks, lease, events } = onDoubtfulStore();
    const other = new FakeLease();
    await locks.acquire(['a', 'b']);
    store.onAcquire = () => Promise.resolve(other);
    await locks.acquire('c');
    const asked: string[][] = [];
    store.doubt((keys) => asked.push([...keys]) > 0 && keys.includes('b'));
    await clock.advance(0);
    expect(asked).toEqual([['a', 'b'], ['c']]);
    expect(lease.extensions).toHaveLength(1);
    expect(other.extensions).toEqual([]);
    expect(events).toEqual(['held', 'held', 'jeopardy', 'recovered']);
  });

  it('is left alone once it has been given back', async () => {
    const { clock, store, locks, lease, events } = onDoubtfulStore();
    const released = await locks.acquire('a');
    await released.release();
    locks.events.on('jeopardy', () => void leaving.release());
    const leaving = await locks.acquire('b');
    store.doubt(); // its listener gives it back
    await clock.advance(5_000);
    expect(lease.extensions).toEqual([]);
    expect(events).toEqual(['held', 'released', 'held', 'jeopardy', 'released']);
    expect(clock.pendingTimers).toBe(0);
  });

  it('that lives by a session is asked for again at tenths of its ttl, each time the session is doubted', async () => {
    const session = { fencing: true, ttl: false };
    const { clock, store, locks, lease } = onDoubtfulStore({ ttl: 30_000 }, session);
    const lock = await locks.acquire('a');
    for (const asked of [2, 4]) {
      lease.onExtend = () => Promise.reject(new Error('disconnected'));
      store.doubt();
      await clock.advance(0);
      expect(lock.state).toBe('jeopardy');
      lease.onExtend = () => Promise.resolve(true);
      await clock.advance(3_000);
      expect(lock.state).toBe('held');
      expect(lease.extensions).toHaveLength(asked);
    }
    expect(new Set(lease.extensions)).toEqual(new Set([30_000]));
    await lock.release();
  });
});
