import {
  LockDeadlockError,
  LockKeyError,
  LockLostError,
  LockPermitsError,
  LockService,
  LockStoreError,
  LockTimeoutError,
  LockUnsupportedError,
  MemoryLockStore,
  lockKey,
} from 'nest-holdfast/core';
import {
  FencingGate,
  FencingTokenError,
  LockStaleError,
  fencedRequest,
} from 'nest-holdfast/fencing';
import { KeyTemplate } from '../../../lib/core/keys/key-template';
import { show } from '../../../lib/core/options/option-values';
import { echo, printable, quoted } from '../../../lib/core/text/printable';
import { FakeStore } from '../support/fake-store';
import { errorOf, rejectionOf } from '../support/outcome';

/** Would end a line of a log, colour a terminal, turn the order of a line, or hide in it. */
const HOSTILE =
  'bob\n[Nest] 1 - ERROR [Auth] root logged in\u001b[31m\r\nX: y\u0085\u2028\u202egnp.exe\u200b\u007f';
const UNPRINTABLE = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u;
const LONG = 'A'.repeat(500);

const of = (key: string): Readonly<Record<string, Error>> => ({
  timeout: new LockTimeoutError(key, 0),
  lost: new LockLostError(key, 'gone'),
  store: new LockStoreError(key, 'redis', `the driver said ${HOSTILE}`),
  key: new LockKeyError(`said ${HOSTILE}`, key),
  deadlock: new LockDeadlockError(`said ${HOSTILE}`, key),
  permits: new LockPermitsError(key, 2, 3),
  unsupported: new LockUnsupportedError(key, 'sql', `said ${HOSTILE}`),
  stale: new LockStaleError(key, 1n, 2n),
  token: new FencingTokenError(key, 'missing', `said ${HOSTILE}`),
});

describe('the message of an error', () => {
  it.each(Object.keys(of('')))('is one line of text that can be seen: %s', (name) => {
    const error = of(HOSTILE)[name] as LockTimeoutError;
    expect(error.message).not.toMatch(UNPRINTABLE);
    expect(error.key).toBe(HOSTILE);
  });

  it.each(['timeout', 'lost', 'store', 'permits', 'stale'])('repeats 80 characters: %s', (name) => {
    const { message } = of(LONG)[name]!;
    expect(message).toContain(`"${'A'.repeat(79)}…"`);
    expect(message).not.toContain('A'.repeat(80));
  });

  it('names many keys in as few', () => {
    const keys = Array.from({ length: 900 }, (_, index) => `key ${index}`);
    expect(new LockTimeoutError(keys.join(', '), 0).message.length).toBeLessThan(200);
  });
});

describe.each([
  ['a hostile key', HOSTILE],
  ['a long one', LONG],
])('what a service says of %s', (_, key) => {
  const refusing = new FakeStore({ fencing: false, ttl: true, manyKeys: true });
  refusing.lease.fencingToken = undefined;
  const options = { waitTimeout: 0 };
  const busy = new FakeStore();
  busy.onAcquire = () => Promise.resolve(undefined);
  const broken = new FakeStore();
  broken.onAcquire = () => Promise.reject(new Error(HOSTILE));

  it.each<[string, () => Promise<unknown>]>([
    ['busy', () => new LockService(busy, options).acquire(key)],
    ['broken', () => new LockService(broken, options).acquire(key)],
    ['several', () => new LockService(busy, options).acquire([key, `${key}2`])],
    ['inspect', () => new LockService(broken, options).inspect(key)],
    ['no readers', () => new LockService(refusing, options).acquire(key, { mode: 'read' })],
    ['no token', async () => (await new LockService(refusing).acquire(key)).fencingToken],
    ['no downgrade', async () => (await new LockService(refusing).acquire(key)).downgrade()],
    ['closed', () => closed().acquire(key)],
    ['released', () => released(key)],
    ['itself', () => inItself(key)],
    ['upgrade', () => inItself(key, { mode: 'read' })],
  ])('is printable and short: %s', async (__, ask) => {
    const { message } = await rejectionOf(ask());
    expect(message).not.toMatch(UNPRINTABLE);
    expect(message).not.toContain('A'.repeat(81));
    expect(message.length).toBeLessThan(500);
  });

  async function released(name: string): Promise<void> {
    const lock = await new LockService(refusing).acquire(name);
    await lock.release();
    lock.assertHeld();
  }

  async function inItself(name: string, held: { mode?: 'read' } = {}): Promise<void> {
    const locks = new LockService(new MemoryLockStore());
    await locks.withLock(name, held, () =>
      held.mode ? locks.withLock(name, () => undefined) : locks.acquire(name),
    );
  }

  function closed(): LockService {
    const locks = new LockService(new MemoryLockStore());
    void locks.close();
    return locks;
  }
});

describe('a value that a request brings', () => {
  it.each<[string, unknown]>([
    ['an object', {}],
    ['one that names its class', { constructor: { name: HOSTILE } }],
    ['one whose class has no text', { constructor: { name: { toString: 1 } } }],
    ['one without a class', { constructor: null }],
    ['one of another class', { constructor: { name: LONG } }],
    ['one without text', { toString: 1 }],
    ['a list of it', [{ toString: 1 }]],
    ['a text', HOSTILE.repeat(20)],
    ['a key in a list', [HOSTILE, 1]],
    ['a number without an end', Number.NaN],
  ])('is a LockKeyError, printable and short: %s', async (_, value) => {
    const locks = new LockService(new MemoryLockStore());
    const template = new KeyTemplate('order:<id>');
    const errors = [
      errorOf(() => template.render(() => value)),
      errorOf(() => lockKey`order:${value as string}`),
      await rejectionOf(locks.acquire(value as string)),
      await rejectionOf(locks.withLock([value as string], () => 1)),
    ];
    for (const error of errors) {
      expect(error).toBeInstanceOf(LockKeyError);
      expect(error.message).not.toMatch(UNPRINTABLE);
      expect(error.message.length).toBeLessThan(300);
      expect((error as LockKeyError).key.length).toBeLessThan(200);
    }
  });

  it.each([{ toString: 1 }, ['a'], undefined, 7, ''])(
    'as the key of a fence is a LockKeyError, with or without a token: %j',
    async (key) => {
      const guard = fencedRequest(() => key as string, { gate: new FencingGate() });
      for (const headers of [{}, { 'fencing-token': '7' }]) {
        const next = jest.fn();
        const response = { locals: {}, status: jest.fn() };
        guard({ headers }, response, next);
        await new Promise(setImmediate);
        expect(next).toHaveBeenCalledWith(expect.any(LockKeyError));
        expect(next.mock.calls[0]![0]).toMatchObject({ status: 400 });
      }
    },
  );
});

describe('show', () => {
  it.each<[value: unknown, shown: string]>([
    [{ constructor: { name: HOSTILE } }, 'an object'],
    [Object.assign(() => 1, { toString: 1 }), 'a function'],
    [Object.defineProperty(() => 1, 'name', { value: { toString: 1 } }), 'a function'],
    [Object.defineProperty(() => 1, 'name', { value: 'a\nb' }), 'a function (a\\u000ab)'],
    [Symbol('a\nb'), 'Symbol(a\\u000ab)'],
    ['a\nb', 'the string "a\\nb"'],
    ['a\u0085b', 'the string "a\\u0085b"'],
    [10n ** 100n, `1${'0'.repeat(78)}…n`],
  ])('never reads what it shows (%#)', (value, shown) => {
    expect(show(value)).toBe(shown);
  });
});

describe('an echo', () => {
  it('is cut to 80 characters, never within one', () => {
    expect(echo('a'.repeat(80))).toBe('a'.repeat(80));
    expect(echo('a'.repeat(81))).toBe(`${'a'.repeat(79)}…`);
    for (const before of ['', 'a'])
      expect(echo(before + '😀'.repeat(60)).isWellFormed()).toBe(true);
    expect(echo('\u001b'.repeat(100)).length).toBe(80);
  });

  it.each([
    ['a"b\\c', '"a\\"b\\\\c"'],
    ['é 键 😀', '"é 键 😀"'],
    ['\u0000', '"\\u0000"'],
    ['\u{e0001}', '"\\u{e0001}"'],
  ])('%j is quoted as %s', (text, shown) => {
    expect(quoted(text)).toBe(shown);
  });

  it('leaves a text alone that can be seen', () => {
    expect(printable('Lock "a b é 键 😀" \\ is held')).toBe('Lock "a b é 键 😀" \\ is held');
  });
});
