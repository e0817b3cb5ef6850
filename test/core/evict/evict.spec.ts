import { channel } from 'node:diagnostics_channel';
import { LockLostError, LockStoreError, LockUnsupportedError } from 'nest-holdfast/core';
import type { HolderAnswer, LockAuditEvent, LockEviction } from 'nest-holdfast/core';
import { inMemory, onFakeStore } from '../support/setup';
import { FakeLease } from '../support/fake-store';

const WHO = { reason: 'it hangs', actor: 'ada', via: 'test' };

function auditsOf(locks: ReturnType<typeof inMemory>['locks']): LockAuditEvent[] {
  const audits: LockAuditEvent[] = [];
  locks.events.on('audit', (event) => audits.push(event));
  return audits;
}

describe('locks.evict() takes the key', () => {
  it('from a holder that does not listen, after the grace', async () => {
    const { locks, others, clock, events } = inMemory();
    const lock = await locks.acquire('a');
    const { signal, fencingToken } = lock;
    const evicted = others.evict('a', { fencingToken, grace: 1_000, ...WHO });
    await clock.advance(0);
    expect(signal.reason).toMatchObject({ code: 'LOCK_LOST', reason: 'revoked', key: 'a' });
    expect(lock.isHeld).toBe(false);
    expect(events).toEqual(['held', 'lost']);
    await clock.advance(999);
    expect(await others.tryAcquire('a')).toBeUndefined();
    await clock.advance(201);
    const eviction = await evicted;
    expect(eviction).toMatchObject({ evicted: true, outcome: 'taken', tokenBefore: fencingToken });
    expect(eviction.tokenAfter! > fencingToken).toBe(true);
    const next = await others.acquire('a');
    expect(next.fencingToken > eviction.tokenAfter!).toBe(true);
    expect(await lock.release()).toBe(false);
    expect(next.isHeld).toBe(true);
  });

  it('at once, without a grace', async () => {
    const { locks, others } = inMemory();
    const lock = await locks.acquire('a');
    const eviction = await others.evict('a', { fencingToken: lock.fencingToken, grace: 0 });
    expect(eviction).toMatchObject({ evicted: true, outcome: 'taken', key: 'a' });
    expect(lock.signal.reason).toMatchObject({ reason: 'revoked' });
    expect(await others.inspect('a')).toBeUndefined();
  });

  it('and hands it to the next waiter', async () => {
    const { locks, others } = inMemory();
    const lock = await locks.acquire('a');
    const waiting = [others.acquire('a'), others.acquire('a')];
    await others.evict('a', { fencingToken: lock.fencingToken, grace: 0 });
    const next = await waiting[0]!;
    expect(next.isHeld).toBe(true);
    await next.release();
    await (await waiting[1]!).release();
  });

  it('and the other keys of the holder are free, too', async () => {
    const { locks, others, clock } = inMemory();
    const lock = await locks.acquire(['a', 'b']);
    await others.evict('b', { fencingToken: lock.fencingToken, grace: 0 });
    expect(lock.isHeld).toBe(false);
    await clock.advance(0);
    expect(await others.tryAcquire(['a', 'b'])).toBeDefined();
  });

  it('while callers of the same process wait: the next one asks the store', async () => {
    const { locks, others, store } = inMemory();
    const lock = await locks.acquire('a');
    const next = locks.acquire('a');
    const { tokenAfter } = await others.evict('a', { fencingToken: lock.fencingToken, grace: 0 });
    const { fencingToken } = await next;
    expect(fencingToken > tokenAfter!).toBe(true);
    expect((await store.inspect('a'))?.fencingToken).toBe(fencingToken);
  });
});

describe('a holder that is asked', () => {
  it('frees the key when its work has ended, before the grace has', async () => {
    const { locks, others, clock } = inMemory();
    const audits = auditsOf(others);
    let fencingToken = 0n;
    const work = locks.withLock('a', async (lock) => {
      ({ fencingToken } = lock);
      await new Promise((resolve) => lock.signal.addEventListener('abort', resolve));
      return 'half';
    });
    work.catch(() => undefined);
    await clock.advance(0);
    const next = others.acquire('a');
    const evicted = others.evict('a', { fencingToken, grace: 60_000, ...WHO });
    await clock.advance(0);
    expect((await next).isHeld).toBe(true);
    await expect(work).rejects.toMatchObject({ reason: 'revoked', result: 'half' });
    await expect(work).rejects.toBeInstanceOf(LockLostError);
    await clock.advance(1_000);
    expect(await evicted).toMatchObject({ evicted: true, outcome: 'released', tokenBefore: fencingToken }); // prettier-ignore
    expect(audits).toHaveLength(1);
  });

  it.each([undefined, 'the next one'])(
    'has released the key, when its work ends right before the grace and has it then: %s',
    async (waits) => {
      const { locks, others, clock } = inMemory();
      const audits = auditsOf(others);
      const lock = await locks.acquire('a');
      const { fencingToken } = lock;
      const next = waits && others.acquire('a', { waitTimeout: 60_000 });
      const evicted = others.evict('a', { fencingToken, grace: 1_000, ...WHO });
      await clock.advance(950);
      await lock.release();
      await clock.advance(50);
      expect(await evicted).toMatchObject({ evicted: true, outcome: 'released', tokenBefore: fencingToken }); // prettier-ignore
      expect(audits).toHaveLength(1);
      if (next) expect((await next).isHeld).toBe(true);
    },
  );

  it('keeps the key for its grace, however short its ttl is', async () => {
    const { locks, others, clock } = inMemory({ ttl: 500 });
    const lock = await locks.acquire('a');
    const evicted = others.evict('a', { fencingToken: lock.fencingToken, grace: 5_000 });
    await clock.advance(4_900);
    expect(await others.tryAcquire('a')).toBeUndefined();
    await clock.advance(300);
    expect(await evicted).toMatchObject({ outcome: 'taken' });
  });

  it('loses the key after its grace, also when the one who asked has died', async () => {
    const { locks, others, store, clock } = inMemory();
    const { fencingToken } = await locks.acquire('a');
    await store.askHolder({ key: 'a', fencingToken }, 1_000);
    await clock.advance(10_000);
    expect(await others.tryAcquire('a')).toBeDefined();
  });

  it('is left alone when another holder is named', async () => {
    const { locks, others, clock } = inMemory();
    const audits = auditsOf(others);
    const { fencingToken } = await (async () => {
      const lock = await locks.acquire('a');
      await lock.release();
      return lock;
    })();
    const next = await locks.acquire('a');
    for (const grace of [0, 10_000]) {
      const eviction = await others.evict('a', { fencingToken, grace });
      expect(eviction).toMatchObject({
        evicted: false,
        outcome: 'not-held',
        tokenAfter: undefined,
      });
      expect(eviction.tokenBefore).toBe(next.fencingToken);
    }
    await clock.advance(0);
    expect(next.isHeld).toBe(true);
    expect(next.signal.aborted).toBe(false);
    expect(audits).toEqual([]);
  });
});

it('twice, and twice at once, evicts once', async () => {
  const { locks, others } = inMemory();
  const { fencingToken } = await locks.acquire('a');
  const evict = () => others.evict('a', { fencingToken, grace: 0 });
  const both = await Promise.all([evict(), evict()]);
  expect(both.filter(({ evicted }) => evicted)).toHaveLength(1);
  expect(await evict()).toMatchObject({
    evicted: false,
    holder: undefined,
    tokenBefore: undefined,
  });
});

describe('the event audit', () => {
  it('says who did what, with what, and why', async () => {
    const { locks, others } = inMemory();
    const audits = auditsOf(others);
    const published: unknown[] = [];
    const heard = (message: unknown) => void published.push(message);
    channel('nest-holdfast:audit').subscribe(heard);
    const { fencingToken } = await locks.acquire('a');
    const eviction: LockEviction = await others.evict('a', { fencingToken, grace: 0, ...WHO });
    channel('nest-holdfast:audit').unsubscribe(heard);
    const { tokenAfter, holder } = eviction;
    const tokens = { tokenBefore: fencingToken, tokenAfter };
    expect(audits).toEqual([
      { at: expect.any(Number), ...WHO, action: 'evict', key: 'a', store: 'memory', holder, ...tokens },
    ]); // prettier-ignore
    expect(holder).toMatch(/^.+:\d+:\d+$/);
    expect(Math.abs(audits[0]!.at - Date.now())).toBeLessThan(60_000);
    expect(published).toEqual(audits);
  });
});

describe('locks.evict() rejects', () => {
  it('where the store cannot evict', async () => {
    const { locks } = onFakeStore();
    const refused = locks.evict('a', { fencingToken: 1n });
    await expect(refused).rejects.toBeInstanceOf(LockUnsupportedError);
    await expect(refused).rejects.toThrow('Lock store "fake" cannot evict a holder (key "a")');
  });

  it.each(['evict', 'askHolder'])('where the store has nothing but %s', async (method) => {
    const { locks, store } = onFakeStore();
    Object.assign(store, { [method]: () => Promise.resolve({ state: 'other' }) });
    const refused = locks.evict('a', { fencingToken: 1n });
    await expect(refused).rejects.toBeInstanceOf(LockUnsupportedError);
  });

  it.each([{ mode: 'read' as const }, { permits: 2 }])(
    'for a key held with %p',
    async (options) => {
      const { locks, others } = inMemory();
      const lock = await locks.acquire('a', options);
      for (const grace of [0, 100]) {
        const refused = others.evict('a', { fencingToken: 1n, grace });
        await expect(refused).rejects.toMatchObject({ code: 'LOCK_UNSUPPORTED', key: 'a' });
        await expect(refused).rejects.toThrow('sharers hold it, which have no fencing token');
      }
      expect(lock.isHeld).toBe(true);
    },
  );

  it('for a lock that was downgraded', async () => {
    const { locks, others } = inMemory();
    const lock = await locks.acquire('a');
    const { fencingToken } = lock;
    await lock.downgrade();
    const refused = others.evict('a', { fencingToken, grace: 0 });
    await expect(refused).rejects.toBeInstanceOf(LockUnsupportedError);
    expect(lock.isHeld).toBe(true);
  });

  it.each([
    [{}, 'locks.evict: fencingToken must be a bigint of at least 1, got undefined'],
    [{ fencingToken: 7 }, 'fencingToken must be a bigint of at least 1, got 7'],
    [{ fencingToken: 0n }, 'fencingToken must be a bigint of at least 1, got 0'],
    [{ fencingToken: 1n, grace: -1 }, 'grace must be a whole number of ms from 0'],
    [{ fencingToken: 1n, actor: '' }, 'actor must be a string that is not empty'],
    [{ fencingToken: 1n, force: true }, 'unknown option "force"'],
    [undefined, 'locks.evict: the options'],
  ])('%p', async (options, message) => {
    const { locks } = inMemory();
    const refused = locks.evict('a', options as never);
    await expect(refused).rejects.toMatchObject({ code: 'LOCK_OPTION_INVALID' });
    await expect(refused).rejects.toThrow(message);
  });
});

describe('a store that fails', () => {
  function evicting(...answers: (() => Promise<HolderAnswer>)[]) {
    const around = onFakeStore();
    const tokens: string[] = [];
    Object.assign(around.store, {
      askHolder: () => Promise.resolve({ state: 'held' }),
      evict: ({ token }: { token: string }) => {
        tokens.push(token);
        return answers.shift()!();
      },
    });
    return { ...around, tokens };
  }
  const down = () => Promise.reject(new Error('down'));

  it('is asked once more by the same owner token, for it may have taken the key', async () => {
    const lease = new FakeLease();
    const taken = { state: 'taken', taken: lease } as const;
    const { locks, tokens } = evicting(down, () => Promise.resolve(taken));
    expect(await locks.evict('a', { fencingToken: 6n, grace: 0 })).toMatchObject({
      tokenAfter: 7n,
    });
    expect(tokens[0]).toBe(tokens[1]);
    expect(lease.releases).toBe(1);
  });

  it('leaves the outcome unknown, and gives back what comes late', async () => {
    const late = new FakeLease();
    const { locks, clock } = evicting(
      () => new Promise((resolve) => clock.schedule(5_500, () => resolve({ state: 'taken', taken: late }))),
      down,
    ); // prettier-ignore
    const evicted = locks.evict('a', { fencingToken: 6n, grace: 0 });
    evicted.catch(() => undefined);
    await clock.advance(5_000);
    await expect(evicted).rejects.toBeInstanceOf(LockStoreError);
    await clock.advance(1_000);
    expect(late.releases).toBe(1);
  });

  it.each([{}, { state: 'gone' }, { state: 'taken' }, { state: 'taken', taken: 7 }, undefined])(
    'or answers %p',
    async (answer) => {
      const { locks } = evicting(...Array(2).fill(() => Promise.resolve(answer as never)));
      const evicted = locks.evict('a', { fencingToken: 6n, grace: 0 });
      await expect(evicted).rejects.toBeInstanceOf(LockStoreError);
      await expect(evicted).rejects.toMatchObject({ key: 'a' });
    },
  );
});
