import { LockService, MemoryLockStore } from 'nest-holdfast/core';
import { Redis } from 'ioredis';
import { errorOf, rejectionOf } from '../support/outcome';
import { onFakeStore } from '../support/setup';

/** As plain JavaScript calls it, without the help of types. */
type Untyped = Record<string, (...all: unknown[]) => Promise<unknown>>;

describe('a LockService of something that is no store', () => {
  const make = LockService as unknown as new (...all: unknown[]) => LockService;
  const another = 'write new MemoryLockStore(), or the store around its client';

  it.each([
    ['nothing', undefined, `got undefined: ${another}`],
    ['a number', 5, `got 5: ${another}`],
    ['options', { ttl: 5_000 }, `got an object: ${another}`],
    ['the class of a store', MemoryLockStore, `got a function (MemoryLockStore): ${another}`],
  ])('is refused: %s', (_, store, got) => {
    const error = errorOf(() => new make(store));
    expect(error).toBeInstanceOf(TypeError);
    expect(error.message).toBe(`LockService expects a store, ${got}`);
  });

  it('is refused: a client, which belongs into a store', () => {
    const client = new Redis({ lazyConnect: true });
    expect(() => new make(client)).toThrow(
      `LockService expects a store, got an object: ${another}`,
    );
    client.disconnect();
  });

  it.each([5_000, null, 'ttl'])('and one with %j for options', (options) => {
    expect(() => new make(new MemoryLockStore(), options)).toThrow(
      'the options of LockService must be an object, such as { ttl: 10_000 }, got',
    );
  });

  it('and one with a proxy that was revoked, for options or as one of them', () => {
    const { proxy, revoke } = Proxy.revocable({}, {});
    revoke();
    const code = 'LOCK_OPTION_INVALID';
    for (const options of [proxy, { ttl: proxy }, { clock: proxy }]) {
      const error = errorOf(() => new make(new MemoryLockStore(), options));
      expect(error).toMatchObject({
        code,
        message: expect.stringMatching(/got a proxy that was revoked$/),
      });
    }
    expect(errorOf(() => new make(proxy))).toMatchObject({ code });
  });

  it('and one with an option that does not exist, with the nearest', () => {
    expect(() => new make(new MemoryLockStore(), { clocks: 1 })).toThrow(
      /^LockService: unknown option "clocks" \(did you mean clock\?\); known options are clock, maxWaitingTotal, ttl,(?!.*(mode|permits))/,
    );
  });

  it('and one with an option whose name has a million characters, at once', () => {
    const before = process.cpuUsage();
    const name = 'x'.repeat(1_000_000);
    expect(() => new make(new MemoryLockStore(), { [name]: 1 })).toThrow(/^LockService: unknown/);
    const { user, system } = process.cpuUsage(before);
    expect((user + system) / 1_000).toBeLessThan(3_000); // milliseconds; each known name took seconds
  });
});

describe.each(['acquire', 'tryAcquire', 'withLock', 'enter'])('%s', (method) => {
  it.each([
    [5_000, '5000'],
    ['5s', 'the string "5s"'],
    [null, 'null'],
    [0, '0'],
    [[], 'an array'],
    [() => 1, 'a function'],
  ])('refuses %p for options, and asks no store', async (options, got) => {
    const { locks, store } = onFakeStore();
    const call = (locks as unknown as Untyped)[method]!.bind(locks);
    const error = await rejectionOf(call('a', options, () => 1));
    expect(error).toBeInstanceOf(TypeError);
    expect(error.message).toBe(
      `the options of a lock must be an object, such as { ttl: 30_000, waitTimeout: 5_000 }, got ${got}`,
    );
    expect(store.requests).toEqual([]);
  });

  it('takes undefined for none', async () => {
    const { locks } = onFakeStore();
    const call = (locks as unknown as Untyped)[method]!.bind(locks);
    expect(await call('a', undefined, () => 'ran')).toBeDefined();
  });
});
