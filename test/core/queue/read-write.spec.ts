import { LockDeadlockError, LockTimeoutError, LockUnsupportedError } from 'nest-holdfast/core';
import type { Lock } from 'nest-holdfast/core';
import { deferred, never, rejectionOf, watch } from '../support/outcome';
import { inMemory, onFakeStore } from '../support/setup';

const READ = { mode: 'read' } as const;

describe('read and write locks', () => {
  it('let readers of several processes in together, and a writer when all have left', async () => {
    const { locks, others, clock } = inMemory();
    const readers = [
      await locks.acquire('doc', READ),
      await others.acquire('doc', READ),
      await locks.acquire('doc', READ),
    ];
    expect(readers.map(({ mode, permits }) => [mode, permits])).toEqual(
      ['read', 'read', 'read'].map((mode) => [mode, Infinity]),
    );
    const writer = watch(others.acquire('doc'));
    for (const reader of readers) {
      await clock.advance(0);
      expect(writer.status).toBe('pending');
      await reader.release();
    }
    await clock.advance(0);
    expect(writer.value?.mode).toBe('write');
    expect(await locks.tryAcquire('doc', READ)).toBeUndefined();
  });

  it.each(['the same process', 'another process'])(
    'do not let readers of %s overtake a writer that waits',
    async (where) => {
      const { locks, others, clock } = inMemory();
      const order: string[] = [];
      const first = await locks.acquire('doc', READ);
      const writing = others.withLock('doc', () => void order.push('writer'));
      await clock.advance(0);
      const late = where === 'the same process' ? others : locks;
      expect(await late.tryAcquire('doc', READ)).toBeUndefined();
      const reading = [1, 2].map((n) =>
        late.withLock('doc', READ, () => void order.push(`reader ${n}`)),
      );
      await clock.advance(0);
      await first.release();
      await Promise.all([writing, ...reading]);
      expect(order).toEqual(['writer', 'reader 1', 'reader 2']);
    },
  );

  it('let readers who wait behind a writer in together', async () => {
    const { locks, others, clock } = inMemory();
    const writer = await locks.acquire('doc');
    const readers = [locks, locks, others].map((each) => watch(each.acquire('doc', READ)));
    await clock.advance(0);
    await writer.release();
    await clock.advance(0);
    expect(readers.map(({ value }) => value?.mode)).toEqual(['read', 'read', 'read']);
  });

  it('let readers in who stood behind a writer that gave up', async () => {
    const { locks, clock } = inMemory();
    await locks.acquire('doc', READ);
    const writer = watch(locks.acquire('doc', { waitTimeout: 50 }));
    const reader = watch(locks.acquire('doc', READ));
    const behind = watch(locks.acquire('doc', READ));
    await clock.advance(0);
    expect(reader.status).toBe('pending');
    await clock.advance(60);
    expect(writer.error).toBeInstanceOf(LockTimeoutError);
    expect([reader.value?.mode, behind.value?.mode]).toEqual(['read', 'read']);
  });

  it('free the key of a reader that died within its ttl', async () => {
    const { locks, others, clock } = inMemory({ autoExtend: false });
    await locks.acquire('doc', { ...READ, ttl: 100 });
    const writer = watch(others.acquire('doc'));
    await clock.advance(90);
    expect(writer.status).toBe('pending');
    await clock.advance(20);
    expect(writer.status).toBe('fulfilled');
  });

  it('are extended by themselves, each for its own', async () => {
    const { locks, others, clock, store } = inMemory({ ttl: 100 });
    const kept = await locks.acquire('doc', READ);
    const lapsing = await others.acquire('doc', { ...READ, autoExtend: false });
    await clock.advance(250);
    expect([kept.isHeld, lapsing.isHeld]).toEqual([true, false]);
    expect(lapsing.signal.aborted).toBe(true);
    expect((await store.inspect('doc'))?.holders).toHaveLength(1);
    expect(await others.tryAcquire('doc')).toBeUndefined();
  });

  it('have fencing tokens for writers, and none for readers', async () => {
    const { locks } = inMemory();
    const tokens: bigint[] = [];
    for (let round = 0; round < 2; round++) {
      await locks.withLock('doc', ({ fencingToken }) => void tokens.push(fencingToken));
      await locks.withLock('doc', READ, (reader) => {
        expect(() => reader.fencingToken).toThrow(LockUnsupportedError);
        expect(() => reader.fencingToken).toThrow(
          'Lock "doc" has no fencing token: it is a read lock. What writes takes the write lock',
        );
      });
      await locks.withPermit('export', { permits: 2 }, (permit) => {
        expect(() => permit.fencingToken).toThrow(
          'Lock "export" has no fencing token: it is a permit of a semaphore',
        );
      });
    }
    expect(tokens[1]).toBeGreaterThan(tokens[0]!);
  });

  it('take several keys, all or none', async () => {
    const { locks, others } = inMemory();
    const both = await locks.acquire(['a', 'b'], READ);
    expect(await others.tryAcquire('b')).toBeUndefined();
    const b = await others.acquire('b', READ);
    await both.release();
    expect(await locks.tryAcquire(['a', 'b'])).toBeUndefined();
    await b.release();
    expect(await locks.tryAcquire(['a', 'b'])).toBeDefined();
  });

  it('ask the store for all readers of a process at once', async () => {
    const { locks, store, lease } = onFakeStore({}, { fencing: true, ttl: true, readLocks: true });
    const asked = deferred<void>();
    store.onAcquire = () => asked.promise.then(() => lease);
    const readers = Array.from({ length: 5 }, () => locks.acquire('doc', READ));
    expect(store.requests.map(({ permits }) => permits)).toEqual(Array(5).fill(Infinity));
    asked.resolve();
    await Promise.all(readers);
  });
});

it('readers that wait behind a writer of their process ask the store together when it leaves', async () => {
  const { locks, store, clock } = onFakeStore({}, { fencing: true, ttl: true, readLocks: true });
  const writer = await locks.acquire('doc');
  for (let index = 0; index < 3; index++) watch(locks.acquire('doc', READ));
  await clock.advance(0);
  store.onAcquire = never;
  await writer.release();
  await clock.advance(0);
  expect(store.requests.slice(1).map(({ permits }) => permits)).toEqual(Array(3).fill(Infinity));
});

it('a writer asks the store while readers of its process hold the key', async () => {
  const { locks, others, clock } = inMemory();
  const reader = await locks.acquire('doc', READ);
  const writer = watch(locks.acquire('doc'));
  await clock.advance(0);
  const behind = watch(others.acquire('doc', READ));
  await clock.advance(0);
  expect(behind.status).toBe('pending');
  await reader.release();
  await clock.advance(0);
  expect([writer.status, behind.status]).toEqual(['fulfilled', 'pending']);
});

describe('many sharers that come at once, while no writer wants the key', () => {
  const MANY = 250;
  const count = (of: readonly unknown[]) => of.filter(Boolean).length;

  it.each([
    ['readers', { mode: 'read' as const }],
    ['holders of permits', { permits: 1_000 }],
  ])('%s all get it by one attempt, with others in line too', async (_, options) => {
    const { locks, clock } = inMemory();
    const waiting = Array.from({ length: MANY }, () => locks.acquire('a', options));
    const tried = Array.from({ length: MANY }, () => locks.tryAcquire('a', options));
    const noWait = { ...options, waitTimeout: 0 };
    const called = Array.from({ length: MANY }, () => locks.withLock('a', noWait, () => 'done'));
    await clock.advance(0);
    expect(count(await Promise.all(tried))).toBe(MANY);
    expect(count(await Promise.all(called))).toBe(MANY);
    expect(count(await Promise.all(waiting))).toBe(MANY);
  });

  it('do not go before a writer that waits in line', async () => {
    const { locks, clock } = inMemory();
    const readers = Array.from({ length: MANY }, () => locks.acquire('a', { mode: 'read' }));
    const writer = watch(locks.acquire('a'));
    const late = Array.from({ length: MANY }, () => locks.tryAcquire('a', { mode: 'read' }));
    expect(count(await Promise.all(late))).toBe(0);
    for (const reader of readers) await (await reader).release();
    await clock.advance(0);
    expect(writer.status).toBe('fulfilled');
  });
});

describe('a nested call that changes the mode', () => {
  it('re-enters a write lock to read, and a read lock to read', async () => {
    const { locks } = inMemory({ reentrant: true });
    const modes: string[] = [];
    const note = ({ mode }: Lock) => void modes.push(mode);
    await locks.withLock('doc', () => locks.withLock('doc', READ, note));
    await locks.withLock('doc', READ, () => locks.withLock('doc', READ, note));
    expect(modes).toEqual(['write', 'read']);
  });

  it('is refused the upgrade, at once and with the reason', async () => {
    const { locks } = inMemory({ reentrant: true });
    await locks.withLock('doc', READ, async () => {
      for (const upgrade of [locks.withLock('doc', () => 1), locks.acquire('doc')]) {
        const error = await rejectionOf(upgrade);
        expect(error).toBeInstanceOf(LockDeadlockError);
        expect(error).toMatchObject({ code: 'LOCK_DEADLOCK', key: 'doc' });
      }
      expect(await locks.tryAcquire('doc')).toBeUndefined();
    });
    const upgrade = locks.withLock('doc', READ, () => locks.withLock('doc', () => 1));
    await expect(upgrade).rejects.toThrow('cannot be upgraded');
  });

  it('is refused what the outer one downgraded', async () => {
    const { locks } = inMemory({ reentrant: true });
    await locks.withLock('doc', async (lock) => {
      await lock.downgrade();
      expect(await locks.withLock('doc', READ, ({ mode }) => mode)).toBe('read');
      await expect(locks.withLock('doc', () => 1)).rejects.toThrow(LockDeadlockError);
    });
  });
});

describe('a downgrade', () => {
  it('lets readers in, and writers wait until they are gone', async () => {
    const { locks, others, clock } = inMemory();
    const lock = await locks.acquire('doc');
    const readers = [locks, others].map((each) => watch(each.acquire('doc', READ)));
    const writer = watch(others.acquire('doc'));
    await clock.advance(0);
    await lock.downgrade();
    await clock.advance(0);
    expect(lock.mode).toBe('read');
    expect(readers.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled']);
    expect(() => lock.fencingToken).toThrow('no fencing token');
    for (const reader of readers) await reader.value!.release();
    await clock.advance(0);
    expect(writer.status).toBe('pending');
    await lock.release();
    await clock.advance(0);
    expect(writer.status).toBe('fulfilled');
  });

  it('of a reader changes nothing, of a permit is refused, of a released lock says so', async () => {
    const { locks } = inMemory();
    const reader = await locks.acquire('doc', READ);
    await reader.downgrade();
    const permit = await locks.acquire('export', { permits: 2 });
    await expect(permit.downgrade()).rejects.toThrow(LockUnsupportedError);
    const writer = await locks.acquire('other');
    await writer.release();
    await expect(writer.downgrade()).rejects.toMatchObject({ reason: 'released' });
  });

  it('is refused where the store cannot, and the lock stays as it was', async () => {
    const { locks } = onFakeStore();
    const lock = await locks.acquire('doc');
    await expect(lock.downgrade()).rejects.toMatchObject({ code: 'LOCK_UNSUPPORTED', key: 'doc' });
    expect([lock.mode, lock.isHeld]).toEqual(['write', true]);
  });

  it('counts as done from the moment at which the store is asked', async () => {
    const { locks, lease } = onFakeStore();
    const lock = await locks.acquire('doc');
    Object.assign(lease, { downgrade: () => Promise.reject(new Error('lost reply')) });
    await expect(lock.downgrade()).rejects.toThrow('lost reply');
    expect([lock.mode, lock.isHeld]).toEqual(['read', true]);
  });

  it('that failed can be asked for again', async () => {
    const { locks, lease } = onFakeStore();
    const lock = await locks.acquire('doc');
    const answers = [() => Promise.reject(new Error('lost reply')), () => Promise.resolve(true)];
    const downgrade = jest.fn(() => answers.shift()!());
    Object.assign(lease, { downgrade });
    await expect(lock.downgrade()).rejects.toThrow('lost reply');
    await lock.downgrade();
    await lock.downgrade();
    expect(downgrade).toHaveBeenCalledTimes(2);
  });

  it('waits for an extension that is under way, and two are one', async () => {
    const { locks, lease, clock } = onFakeStore();
    const lock = await locks.acquire('doc');
    const extended = deferred<boolean>();
    lease.onExtend = () => extended.promise;
    const downgrade = jest.fn(() => Promise.resolve(true));
    Object.assign(lease, { downgrade });
    const extension = lock.extend(5_000);
    const both = watch(Promise.all([lock.downgrade(), lock.downgrade()]));
    expect(lock.mode).toBe('read'); // from the call on
    await clock.advance(0);
    expect([both.status, downgrade.mock.calls.length]).toEqual(['pending', 0]);
    extended.resolve(true);
    await extension;
    await clock.advance(0);
    expect([both.status, downgrade.mock.calls.length]).toEqual(['fulfilled', 1]);
  });

  it('of a lock that the store no longer has is a loss', async () => {
    const { locks, lease, events } = onFakeStore();
    const lock = await locks.acquire('doc');
    Object.assign(lease, { downgrade: () => Promise.resolve(false) });
    await expect(lock.downgrade()).rejects.toMatchObject({ code: 'LOCK_LOST', reason: 'gone' });
    expect(events).toEqual(['held', 'lost']);
  });
});
