import { Lock } from 'nest-holdfast/core';
import { sleep } from '../../../lib/core/async/sleep';
import { deferred, rejectionOf, watch } from '../support/outcome';
import { inMemory, onFakeStore } from '../support/setup';

describe('ownership follows the work', () => {
  it('a context that outlives its lock owns nothing', async () => {
    const { locks, store, clock } = onFakeStore({ reentrant: true });
    const over = deferred<void>();
    let later!: Promise<Lock | undefined>;
    await locks.withLock('a', () => {
      later = over.promise.then(async () => {
        expect(locks.current()).toBeUndefined();
        await locks.withLock('a', () => 1);
        return locks.acquire('a');
      });
    });
    over.resolve();
    await clock.advance(0);
    expect((await later)?.isHeld).toBe(true);
    expect(store.requests).toHaveLength(3);
  });

  it('nor does one whose lock was lost', async () => {
    const { locks, store, clock } = onFakeStore({ ttl: 100, reentrant: true });
    await rejectionOf(
      locks.withLock('a', async () => {
        clock.jump(1_000);
        expect(locks.current('a')).toBeUndefined();
        await locks.withLock('a', () => 1);
      }),
    );
    expect(store.requests).toHaveLength(2);
  });

  it('unrelated async work does not inherit it', async () => {
    const { locks, others, clock } = inMemory({ waitTimeout: 50 });
    const started = deferred<void>();
    const unrelated = started.promise.then(() => locks.withLock('a', () => 1));
    const outcome = watch(unrelated);
    await locks.withLock('a', async () => {
      started.resolve();
      const slept = sleep(clock, 100);
      await clock.advance(100);
      await slept;
    });
    expect(outcome.error).toMatchObject({ code: 'LOCK_TIMEOUT' });
    expect(await others.tryAcquire('a')).toBeDefined();
  });

  it('another service does not share it', async () => {
    const { locks, others } = inMemory({ waitTimeout: 0 });
    await locks.withLock('a', async () => {
      expect(others.current()).toBeUndefined();
      const error = await rejectionOf(others.withLock('a', () => 1));
      expect(error).toMatchObject({ code: 'LOCK_TIMEOUT' });
    });
  });

  it('nested calls that are over do not pile up either', async () => {
    const { locks } = onFakeStore({ reentrant: true });
    let looks = 0;
    jest.spyOn(Lock.prototype, 'isHeld', 'get').mockImplementation(function (this: Lock) {
      looks++;
      return this.state === 'held';
    });
    const nest = (left: number): Promise<void> => {
      const over = deferred<void>();
      let next!: Promise<void>;
      const nested = locks.withLock('a', () => {
        next = over.promise.then(() => (left > 0 ? nest(left - 1) : last()));
      });
      void nested.then(() => over.resolve());
      return nested.then(() => next);
    };
    const last = async () => {
      looks = 0;
      expect(locks.current('another')).toBeUndefined();
    };
    await locks.withLock('a', () => nest(50));
    jest.restoreAllMocks();
    expect(looks).toBeLessThanOrEqual(4);
  });

  it('work that starts the next piece of work does not pile up what is over', async () => {
    const { locks } = onFakeStore();
    let looks = 0;
    jest.spyOn(Lock.prototype, 'keys', 'get').mockImplementation(() => {
      looks++;
      return ['a'];
    });
    const run = async (left: number): Promise<void> => {
      let next!: Promise<void>;
      const over = deferred<void>();
      await locks.withLock('a', () => {
        if (left > 0) next = over.promise.then(() => run(left - 1));
      });
      over.resolve();
      await next;
    };
    await run(50);
    jest.restoreAllMocks();
    expect(looks).toBeLessThanOrEqual(4 * 51);
  });
});
