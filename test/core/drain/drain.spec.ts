import { channel } from 'node:diagnostics_channel';
import { LockDrainingError } from 'nest-holdfast/core';
import type { LockAuditEvent, LockRefusedEvent } from 'nest-holdfast/core';
import { deferred, rejectionOf, watch } from '../support/outcome';
import { inMemory, onFakeStore } from '../support/setup';

const DRAINING = { code: 'LOCK_DRAINING', name: 'LockDrainingError' };

describe('locks.drain()', () => {
  it('refuses every call from then on, whatever is free', async () => {
    const { locks } = inMemory();
    expect(await locks.drain()).toEqual([]);
    const work = jest.fn();
    const calls = [
      () => locks.acquire('a'),
      () => locks.tryAcquire('a'),
      () => locks.withLock('a', work),
      () => locks.tryWithLock('a', work),
      () => locks.withPermit('a', { permits: 2 }, work),
      () => locks.enter(['a', 'b']),
      () => locks.enterRequest('a'),
    ];
    for (const call of calls) {
      const error = await rejectionOf(call());
      expect(error).toBeInstanceOf(LockDrainingError);
      expect(error).toMatchObject(DRAINING);
    }
    expect(work).not.toHaveBeenCalled();
    expect(locks.isDraining).toBe(true);
    expect(locks.isClosed).toBe(false);
  });

  it('waits for the held locks, and resolves with none', async () => {
    const { locks, clock } = inMemory();
    const lock = await locks.acquire('a');
    const drained = watch(locks.drain());
    await clock.advance(9_000);
    expect(drained.status).toBe('pending');
    expect(lock.isHeld).toBe(true);
    await lock.release();
    await clock.advance(0);
    expect(drained.value).toEqual([]);
  });

  it('resolves with what is left after `within`, as held() tells it', async () => {
    const { locks, clock } = inMemory();
    const ended = await locks.acquire('a');
    const lock = await locks.acquire(['b', 'c'], { name: 'hangs' });
    const drained = watch(locks.drain({ within: 500 }));
    await clock.advance(400);
    await ended.release();
    await clock.advance(99);
    expect(drained.status).toBe('pending');
    await clock.advance(1);
    expect(drained.value).toEqual(locks.held());
    expect(drained.value).toMatchObject([{ key: 'b', keys: ['b', 'c'], name: 'hangs' }]);
    expect(lock.isHeld).toBe(true);
  });

  it('refuses those who wait in line, and not the one who holds', async () => {
    const { locks, others, clock } = inMemory();
    const reasons: string[] = [];
    locks.events.on('refused', ({ reason }) => reasons.push(reason));
    const lock = await locks.acquire('a');
    const elsewhere = await others.acquire('b');
    const inLine = [locks.acquire('a'), locks.acquire('a'), locks.acquire('b')].map(rejectionOf);
    await clock.advance(0);
    const drained = watch(locks.drain());
    for (const error of await Promise.all(inLine)) expect(error).toMatchObject(DRAINING);
    expect(locks.waiting()).toEqual([]);
    expect(lock.isHeld).toBe(true);
    await lock.release();
    await clock.advance(0);
    expect(drained.value).toEqual([]);
    await elsewhere.release();
    expect(reasons).toEqual(['draining', 'draining', 'draining']);
    expect(await others.tryAcquire('a')).toBeDefined();
  });

  it('frees what a call gets that was on its way, without running its work', async () => {
    const { locks, store, lease, clock } = onFakeStore();
    const answer = deferred<typeof lease | undefined>();
    store.onAcquire = () => answer.promise;
    const work = jest.fn();
    const call = rejectionOf(locks.withLock('a', work));
    await clock.advance(0);
    const drained = watch(locks.drain());
    await clock.advance(100);
    expect(drained.status).toBe('pending');
    answer.resolve(lease);
    expect(await call).toMatchObject(DRAINING);
    expect(lease.releases).toBe(1);
    expect(work).not.toHaveBeenCalled();
    await clock.advance(0);
    expect(drained.value).toEqual([]);
  });

  it('forgets none of the locks that are held beside it', async () => {
    const { locks, store, lease, clock } = onFakeStore();
    await locks.acquire('held');
    const answer = deferred<typeof lease | undefined>();
    store.onAcquire = () => answer.promise;
    const call = rejectionOf(locks.acquire('late'));
    const drained = watch(locks.drain({ within: 100 }));
    answer.resolve(lease);
    expect(await call).toMatchObject(DRAINING);
    await clock.advance(100);
    expect(drained.value).toMatchObject([{ key: 'held' }]);
  });

  it('frees it at once, also what `minHold` would keep: the tick was not done', async () => {
    const { locks, store, lease, clock } = onFakeStore();
    const answer = deferred<typeof lease | undefined>();
    store.onAcquire = () => answer.promise;
    const call = rejectionOf(locks.tryWithLock('a', { minHold: 5_000 }, jest.fn()));
    await clock.advance(0);
    void locks.drain();
    answer.resolve(lease);
    expect(await call).toMatchObject(DRAINING);
    expect(lease.releases).toBe(1);
  });

  it('resolves when the store has answered the releases', async () => {
    const { locks, lease, clock } = onFakeStore();
    const lock = await locks.acquire('a');
    const answer = deferred<boolean>();
    lease.onRelease = () => answer.promise;
    const drained = watch(locks.drain());
    void lock.release();
    await clock.advance(1_000);
    expect(drained.status).toBe('pending');
    answer.resolve(true);
    await clock.advance(0);
    expect(drained.value).toEqual([]);
  });

  it('leaves the key of a lock that is asked to end until its work has', async () => {
    const { locks, others, clock } = inMemory();
    const lock = await locks.acquire('a');
    const drained = watch(locks.drain({ within: Infinity }));
    const evicted = others.evict('a', { fencingToken: lock.fencingToken, grace: 1_000 });
    await clock.advance(10);
    expect(lock.isHeld).toBe(false);
    expect(await others.tryAcquire('a')).toBeUndefined();
    await lock.release();
    await clock.advance(1_000);
    await evicted;
    expect(drained.value).toEqual([]);
  });

  it('ends with a lock that is lost', async () => {
    const { locks, others, clock } = inMemory();
    const lock = await locks.acquire('a');
    const drained = watch(locks.drain({ within: Infinity }));
    await others.evict('a', { fencingToken: lock.fencingToken, grace: 0 });
    await clock.advance(0);
    expect(drained.value).toEqual([]);
  });
});

describe('work that holds a lock', () => {
  it('gets the locks that it needs to end, also those that it waits for', async () => {
    const { locks, others, clock } = inMemory();
    const other = await others.acquire('busy');
    const go = deferred<void>();
    const steps: string[] = [];
    const work = locks.withLock('a', async () => {
      const early = locks.withLock('busy', async () => void steps.push('waited since before'));
      await go.promise;
      await locks.withLock('b', async () => void steps.push('another key'));
      await locks.withLock('a', { reentrant: true }, async () => void steps.push('its own'));
      expect(await locks.tryWithLock('c', async () => 'once')).toMatchObject({ acquired: true });
      await early;
    });
    await clock.advance(0);
    const drained = watch(locks.drain());
    go.resolve();
    await clock.advance(100);
    expect(steps).toEqual(['another key', 'its own']);
    expect(drained.status).toBe('pending');
    await other.release();
    await clock.advance(1_000);
    await work;
    expect(steps).toContain('waited since before');
    expect(drained.value).toEqual([]);
  });

  it('gets none once it has ended: what it started goes on without', async () => {
    const { locks, clock } = inMemory();
    const go = deferred<void>();
    let late: Promise<unknown> | undefined;
    await locks.withLock('a', async () => {
      late = rejectionOf(go.promise.then(() => locks.acquire('b')));
    });
    await locks.drain();
    go.resolve();
    await clock.advance(0);
    expect(await late).toMatchObject(DRAINING);
  });

  it('gets none in a context outside', async () => {
    const { locks } = inMemory();
    await locks.withLock('a', async () => {
      void locks.drain();
      const outside = locks.outside(() => locks.acquire('b'));
      expect(await rejectionOf(outside)).toMatchObject(DRAINING);
    });
  });

  it('waits for itself when it drains its own service', async () => {
    const { locks, clock } = inMemory();
    const work = watch(
      locks.withLock('a', async () => (await locks.drain({ within: 300 })).map(({ key }) => key)),
    );
    await clock.advance(300);
    expect(work.value).toEqual(['a']);
  });
});

describe('within', () => {
  it('is 10,000 by default', async () => {
    const { locks, clock } = inMemory();
    await locks.acquire('a');
    const drained = watch(locks.drain());
    await clock.advance(9_999);
    expect(drained.status).toBe('pending');
    await clock.advance(1);
    expect(drained.value).toHaveLength(1);
  });

  it('0 does not wait', async () => {
    const { locks, clock } = inMemory();
    await locks.acquire('a');
    const drained = watch(locks.drain({ within: 0 }));
    await clock.advance(0);
    expect(drained.value).toMatchObject([{ key: 'a' }]);
  });

  it('Infinity waits for the last one', async () => {
    const { locks, clock } = inMemory();
    const lock = await locks.acquire('a');
    const drained = watch(locks.drain({ within: Infinity }));
    await clock.advance(86_400_000);
    expect(drained.status).toBe('pending');
    await lock.release();
    await clock.advance(0);
    expect(drained.value).toEqual([]);
    await locks.close();
    expect(clock.pendingTimers).toBe(0);
  });
});

describe('a signal', () => {
  it('ends the wait, and the service takes on nothing nevertheless', async () => {
    const { locks, clock } = inMemory();
    const lock = await locks.acquire('a');
    const stop = new AbortController();
    const drained = rejectionOf(locks.drain({ signal: stop.signal }));
    await clock.advance(0);
    const reason = new Error('enough');
    stop.abort(reason);
    expect(await drained).toBe(reason);
    expect(await rejectionOf(locks.acquire('b'))).toMatchObject(DRAINING);
    expect(lock.isHeld).toBe(true);
  });

  it('that has aborted drains nothing', async () => {
    const { locks } = inMemory();
    const reason = new Error('never mind');
    expect(await rejectionOf(locks.drain({ signal: AbortSignal.abort(reason) }))).toBe(reason);
    expect(locks.isDraining).toBe(false);
    await (await locks.acquire('a')).release();
  });
});

describe('drain() and the end of the service', () => {
  it('may be called twice: each waits for itself', async () => {
    const { locks, clock } = inMemory();
    const lock = await locks.acquire('a');
    const first = watch(locks.drain({ within: 100 }));
    const second = watch(locks.drain({ within: 5_000 }));
    await clock.advance(100);
    expect(first.value).toHaveLength(1);
    expect(second.status).toBe('pending');
    await lock.release();
    await clock.advance(0);
    expect(second.value).toEqual([]);
  });

  it('close() takes back what is left, and ends a drain', async () => {
    const { locks, others, clock } = inMemory();
    const lock = await locks.acquire('a');
    const drained = watch(locks.drain({ within: Infinity }));
    await locks.close();
    await clock.advance(0);
    expect(lock.signal.reason).toMatchObject({ reason: 'closed' });
    expect(drained.value).toEqual([]);
    expect(await others.tryAcquire('a')).toBeDefined();
    expect(await locks.drain()).toEqual([]);
    expect(await rejectionOf(locks.acquire('a'))).toMatchObject({ code: 'LOCK_STORE_FAILED' });
  });

  it('the readiness probe says down', async () => {
    const { locks } = inMemory();
    await locks.drain();
    expect(await locks.health()).toMatchObject({ status: 'down', reason: 'draining' });
    await locks.close();
    expect(await locks.health()).toMatchObject({ status: 'down', reason: 'closed' });
  });
});

describe('its events', () => {
  it('audit: once, with who and why', async () => {
    const { locks } = inMemory();
    const audits: LockAuditEvent[] = [];
    const published: unknown[] = [];
    const heard = (message: unknown) => void published.push(message);
    locks.events.on('audit', (event) => audits.push(event));
    channel('nest-holdfast:audit').subscribe(heard);
    const who = { actor: 'ada', via: 'deploy', reason: 'roll-out' };
    await locks.drain(who);
    await locks.drain({ actor: 'bob' });
    channel('nest-holdfast:audit').unsubscribe(heard);
    const none = { key: undefined, tokenBefore: undefined, tokenAfter: undefined };
    const holder = expect.stringMatching(new RegExp(`^.+:${process.pid}:\\d+$`));
    const at = expect.any(Number);
    expect(audits).toStrictEqual([
      { at, ...who, action: 'drain', store: 'memory', holder, ...none },
    ]);
    expect(published).toEqual(audits);
  });

  it('refused: for each call, with the reason', async () => {
    const { locks } = inMemory();
    const refused: LockRefusedEvent[] = [];
    locks.events.on('refused', (event) => refused.push(event));
    await locks.drain();
    const error = await rejectionOf(locks.acquire('a'));
    expect(refused).toMatchObject([{ key: 'a', reason: 'draining', error }]);
  });
});

it.each([
  [{ within: -1 }, 'locks.drain: within must be a whole number of ms from 0'],
  [{ within: '5s' }, 'within must be a whole number of ms'],
  [{ within: 0.5 }, 'or Infinity, got 0.5'],
  [{ signal: {} }, 'signal must be an AbortSignal'],
  [{ actor: '' }, 'actor must be a string that is not empty'],
  [{ timeout: 5 }, 'unknown option "timeout"'],
  [null, 'locks.drain: the options'],
])('refuses %p', async (options, message) => {
  const { locks } = inMemory();
  const refused = locks.drain(options as never);
  await expect(refused).rejects.toMatchObject({ code: 'LOCK_OPTION_INVALID' });
  await expect(refused).rejects.toThrow(message);
  expect(locks.isDraining).toBe(false);
});
