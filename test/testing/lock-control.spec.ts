import {
  LockKeyError,
  LockLostError,
  LockService,
  LockStoreError,
  LockTimeoutError,
} from 'nest-holdfast/core';
import type { LockEvent } from 'nest-holdfast/core';
import { FakeClock, LockControl } from 'nest-holdfast/testing';
import { Deferred } from '../nest/support/deferred';

const KEY = 'order:42';

/** A control, and a service that would wait for ever: only what the control does ends a wait. */
function setup(clock = new FakeClock()) {
  const control = new LockControl({ clock });
  const locks = new LockService(control.store(), { clock, waitTimeout: Infinity });
  const log: string[] = [];
  for (const name of ['held', 'released', 'lost', 'jeopardy', 'releaseFailed'] as const) {
    locks.events.on(name, ({ key }: LockEvent) => log.push(`${name} ${key}`));
  }
  return { clock, control, locks, log };
}

/** Work that stays under its lock until the test ends it. */
function work(locks: LockService, key: string | string[] = KEY) {
  const end = new Deferred<string>();
  let signal: AbortSignal | undefined;
  const result = locks.withLock(key, (lock) => {
    signal = lock.signal;
    return end.promise;
  });
  result.catch(() => undefined);
  return { result, end, signal: () => signal };
}

describe('LockControl', () => {
  describe('with nothing commanded', () => {
    it('grants a free key at once, to one at a time, in order', async () => {
      const { control, locks, log } = setup();
      const calls = [work(locks), work(locks), work(locks)];
      await control.untilHeld(KEY);
      await control.untilWaiting(KEY, 2);
      expect(control.held()).toEqual([KEY]);
      for (const [index, call] of calls.entries()) {
        expect(control.waiters(KEY)).toBe(2 - index);
        call.end.resolve(`${index}`);
        expect(await call.result).toBe(`${index}`);
        await nextTurn();
      }
      expect(log).toEqual(calls.flatMap(() => [`held ${KEY}`, `released ${KEY}`]));
      expect(control.held()).toEqual([]);
    });

    it('excludes two services of one store, as processes', async () => {
      const { control, locks } = setup();
      const others = new LockService(control.store());
      const lock = await locks.acquire(KEY);
      expect(await others.tryAcquire(KEY)).toBeUndefined();
      const waiting = others.acquire(KEY, { waitTimeout: Infinity });
      await control.untilWaiting(KEY);
      await lock.release();
      expect((await waiting).fencingToken).toBeGreaterThan(lock.fencingToken);
    });

    it('keeps the stores of two instances apart', async () => {
      const { control, locks } = setup();
      const billing = new LockService(control.store('billing'));
      await locks.acquire(KEY);
      await billing.acquire(KEY, { waitTimeout: 0 });
      expect(control.held()).toEqual([KEY, KEY]);
      await billing.close();
      expect(control.held()).toEqual([KEY]);
    });

    it('frees a key when its ttl has passed on the clock, for the one who waits', async () => {
      const { clock, control, locks } = setup();
      const first = await locks.acquire(KEY, { ttl: 1_000, autoExtend: false });
      const second = locks.acquire(KEY);
      await control.untilWaiting(KEY);
      await clock.advance(1_000);
      expect(first.isHeld).toBe(false);
      expect((await second).isHeld).toBe(true);
    });
  });

  describe('busy', () => {
    it('refuses at once, with any waitTimeout', async () => {
      const { control, locks } = setup();
      control.busy(KEY);
      const refused = locks.withLock(KEY, () => 'never');
      await expect(refused).rejects.toThrow(LockTimeoutError);
      await expect(refused).rejects.toMatchObject({ key: KEY, code: 'LOCK_TIMEOUT' });
      await expect(locks.acquire([KEY, 'order:1'], { waitTimeout: 0 })).rejects.toThrow(
        LockTimeoutError,
      );
      expect(await locks.tryAcquire(KEY)).toBeUndefined();
      expect(await locks.inspect(KEY)).toMatchObject({ key: KEY });
      expect(await locks.withLock('order:1', () => 'done')).toBe('done');
    });

    it('ends the waits that are under way, and leaves the holder its lock', async () => {
      const { control, locks } = setup();
      const [holder, waiter] = [work(locks), work(locks)];
      await control.untilWaiting(KEY);
      control.busy(KEY);
      await expect(waiter.result).rejects.toThrow(LockTimeoutError);
      expect(control.waiters()).toBe(0);
      holder.end.resolve('done');
      expect(await holder.result).toBe('done');
    });

    it('ends with its release, with the end of a block and with free', async () => {
      const { control, locks } = setup();
      const busy = control.busy(KEY);
      busy.release();
      expect(await locks.withLock(KEY, () => 1)).toBe(1);
      {
        using busyInHere = control.busy(KEY);
        expect(busyInHere).toBeDefined();
        expect(await locks.tryAcquire(KEY)).toBeUndefined();
      }
      expect(await locks.withLock(KEY, () => 2)).toBe(2);
      control.busy(KEY);
      control.free(KEY);
      expect(await locks.withLock(KEY, () => 3)).toBe(3);
    });

    it('is not ended by the release of a command that it has replaced', async () => {
      const { control, locks } = setup();
      const first = control.busy(KEY);
      const second = control.busy(KEY);
      first.release();
      expect(await locks.tryAcquire(KEY)).toBeUndefined();
      second.release();
      second.release();
      expect(await locks.tryAcquire(KEY)).toBeDefined();
    });

    it('is for every key when it names none, but for those that are freed', async () => {
      const { control, locks } = setup();
      control.failing('order:1');
      const busy = control.busy();
      control.free(KEY);
      expect(await locks.tryAcquire('order:1')).toBeUndefined();
      expect(await locks.withLock(KEY, () => 'done')).toBe('done');
      busy.release();
      expect(await locks.withLock('order:1', () => 'done')).toBe('done');
    });
  });

  describe('hold', () => {
    it('lets callers wait until it is released', async () => {
      const { control, locks } = setup();
      const elsewhere = control.hold(KEY);
      const { result, end } = work(locks);
      await control.untilWaiting(KEY);
      expect(control.waiters('order:1')).toBe(0);
      expect(control.held()).toEqual([]);
      elsewhere.release();
      await control.untilHeld(KEY);
      end.resolve('done');
      expect(await result).toBe('done');
    });

    it('lets them wait as long as their waitTimeout says, or their signal', async () => {
      const { clock, control, locks } = setup();
      control.hold(KEY);
      const abort = new AbortController();
      const timed = locks.acquire(KEY, { waitTimeout: 5_000 });
      const stopped = locks.acquire(KEY, { signal: abort.signal });
      for (const each of [timed, stopped]) each.catch(() => undefined);
      await control.untilWaiting(KEY, 2);
      abort.abort(new Error('enough'));
      await expect(stopped).rejects.toThrow('enough');
      expect(control.waiters()).toBe(1);
      await clock.advance(5_000);
      await expect(timed).rejects.toThrow(LockTimeoutError);
      expect(control.waiters()).toBe(0);
    });
  });

  describe('lose', () => {
    it('takes the lock from the work that holds it', async () => {
      const { control, locks, log } = setup();
      const { result, end, signal } = work(locks);
      await control.untilHeld(KEY);
      control.lose(KEY);
      expect(signal()!.aborted).toBe(true);
      expect(control.held()).toEqual([]);
      end.resolve('written all the same');
      await expect(result).rejects.toThrow(LockLostError);
      await expect(result).rejects.toMatchObject({ key: KEY, result: 'written all the same' });
      expect(log).toEqual([`held ${KEY}`, `lost ${KEY}`]);
    });

    it('gives the key to the next one', async () => {
      const { control, locks } = setup();
      const [first, second] = [work(locks), work(locks)];
      await control.untilWaiting(KEY);
      control.lose(KEY);
      await control.untilHeld(KEY);
      first.end.resolve('too late');
      second.end.resolve('in time');
      await expect(first.result).rejects.toThrow(LockLostError);
      expect(await second.result).toBe('in time');
    });

    it.each([
      ['before it is held', (begin: () => void, lose: () => void) => (lose(), begin())],
      ['while it is being taken', (begin: () => void, lose: () => void) => (begin(), lose())],
    ])('commanded %s, it lets the work begin', async (_when, inOrder) => {
      const { control, locks } = setup();
      let call!: ReturnType<typeof work>;
      inOrder(
        () => (call = work(locks)),
        () => control.lose(KEY),
      );
      const { result, end, signal } = call;
      await nextTurn();
      expect(signal()!.aborted).toBe(true);
      end.resolve('done');
      await expect(result).rejects.toThrow(LockLostError);
      expect(await locks.withLock(KEY, () => 'again')).toBe('again');
    });

    it('reaches work that is done in no time', async () => {
      const { control, locks } = setup();
      control.lose(KEY);
      const lost = locks.withLock(KEY, () => 'quick');
      await expect(lost).rejects.toThrow(LockLostError);
      await expect(lost).rejects.toMatchObject({ result: 'quick' });
    });

    it('takes every key when it names none, and one of several takes them all', async () => {
      const { control, locks } = setup();
      const [first, second] = [work(locks, ['a', 'b']), work(locks, 'c')];
      await control.untilHeld('c');
      control.lose('b');
      expect(first.signal()!.aborted).toBe(true);
      expect(control.held()).toEqual(['c']);
      control.lose();
      expect(second.signal()!.aborted).toBe(true);
      expect(control.held()).toEqual([]);
    });

    it('is taken back by free', async () => {
      const { control, locks } = setup();
      control.lose(KEY);
      control.free(KEY);
      expect(await locks.withLock(KEY, () => 'done')).toBe('done');
    });
  });

  describe('failing', () => {
    it('fails every question about the key', async () => {
      const { control, locks } = setup();
      const cause = new Error('ECONNREFUSED');
      control.failing(KEY, cause);
      const failed = locks.withLock(KEY, () => 'never');
      await expect(failed).rejects.toThrow(LockStoreError);
      await expect(failed).rejects.toMatchObject({ cause, key: KEY });
      await expect(locks.inspect(KEY)).rejects.toThrow('ECONNREFUSED');
      await expect(locks.tryAcquire(KEY)).rejects.toThrow('ECONNREFUSED');
      expect(await locks.withLock('order:1', () => 'done')).toBe('done');
    });

    it('fails extensions and waits, until the lock is in doubt and lost', async () => {
      const { clock, control, locks, log } = setup();
      const [holder, waiter] = [work(locks), work(locks)];
      await control.untilWaiting(KEY);
      control.failing();
      await expect(waiter.result).rejects.toThrow(LockStoreError);
      await clock.advance(29_000);
      expect(log).toContain(`jeopardy ${KEY}`);
      expect(holder.signal()!.aborted).toBe(false);
      await clock.advance(1_000);
      expect(holder.signal()!.aborted).toBe(true);
    });

    it('fails a release, which leaves the key to its ttl, or to reset', async () => {
      const { control, locks, log } = setup();
      const { result, end } = work(locks);
      await control.untilHeld(KEY);
      const failing = control.failing(KEY);
      end.resolve('done');
      expect(await result).toBe('done');
      expect(log).toContain(`releaseFailed ${KEY}`);
      failing.release();
      expect(control.held()).toEqual([KEY]);
      control.reset();
      expect(control.held()).toEqual([]);
    });
  });

  it('counts a waiter for several keys at each of them, and lets no caller wait for a retry', async () => {
    const { control, locks } = setup();
    const elsewhere = control.hold('b');
    const both = work(locks, ['a', 'b']);
    await control.untilWaiting('a');
    expect([control.waiters('a'), control.waiters('b'), control.waiters()]).toEqual([1, 1, 1]);
    elsewhere.release();
    both.end.resolve('done');
    expect(await both.result).toBe('done');
  });

  it('counts the waiters of all keys, and those of one', async () => {
    const { control, locks } = setup();
    control.hold();
    for (const key of ['a', 'a', 'b']) work(locks, key);
    await control.untilWaiting(undefined, 3);
    expect([control.waiters('a'), control.waiters('b'), control.waiters('c')]).toEqual([2, 1, 0]);
    expect(control.waiters()).toBe(3);
    await locks.close();
    expect(control.waiters()).toBe(0);
  });

  it('reset takes back all commands, and every lock from its holder', async () => {
    const { control, locks } = setup();
    const { signal } = work(locks);
    await control.untilHeld();
    control.busy('a');
    control.failing('b');
    control.lose('c');
    control.reset();
    expect(signal()!.aborted).toBe(true);
    expect(await locks.withLock(['a', 'b', 'c', KEY], () => 'done')).toBe('done');
  });

  it('reset refuses callers that wait, so that none of them gets a lock afterwards', async () => {
    const { control, locks } = setup();
    const first = work(locks);
    await control.untilHeld(KEY);
    const waiting = [KEY, KEY, 'b'].map((key) => work(locks, key));
    control.hold('c');
    waiting.push(work(locks, 'c'), work(locks, ['c', KEY]));
    await control.untilWaiting(undefined, 4);
    control.reset();
    expect([control.held(), control.waiters()]).toEqual([[], 0]);
    first.end.resolve('done');
    await expect(first.result).rejects.toThrow(LockLostError);
    for (const [index, { result, end }] of waiting.entries()) {
      end.resolve('done');
      await expect(result).rejects.toThrow(index === 2 ? LockLostError : LockTimeoutError);
    }
    expect(control.held()).toEqual([]);
  });

  it('works while the runner has faked the timers', async () => {
    jest.useFakeTimers();
    try {
      const { control, locks } = setup();
      const { result, end } = work(locks);
      const waiting = locks.tryAcquire(KEY);
      await control.untilHeld(KEY);
      expect(await waiting).toBeUndefined();
      control.lose(KEY);
      end.resolve('done');
      await expect(result).rejects.toThrow(LockLostError);
    } finally {
      jest.useRealTimers();
    }
  });

  it('its clock moves while the runner has faked the timers', async () => {
    jest.useFakeTimers();
    try {
      const clock = new FakeClock();
      const control = new LockControl({ clock });
      const locks = new LockService(control.store(), { clock, waitTimeout: 5_000 });
      control.hold(KEY);
      const waiting = expect(locks.acquire(KEY)).rejects.toThrow('within 5000 ms');
      await control.untilWaiting(KEY);
      await clock.advance(5_000);
      await waiting;
    } finally {
      jest.useRealTimers();
    }
  });

  it.each(['busy', 'hold', 'failing', 'lose', 'free', 'untilHeld', 'untilWaiting'] as const)(
    '%s refuses what is no key',
    (name) => {
      const { control } = setup();
      expect(() => control[name]('')).toThrow(LockKeyError);
      expect(() => control[name](42 as never)).toThrow(LockKeyError);
    },
  );
});

/** Until all promises that can settle by themselves have done so. */
function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
