import { LockKeyError, LockService, MemoryLockStore, lockKey } from 'nest-holdfast/core';
import * as everything from 'nest-holdfast';
import { KeyTemplate } from '../../../lib/core/keys/key-template';
import { errorOf } from '../support/outcome';

describe('lockKey', () => {
  const id = 42;
  it.each([
    [lockKey`nightly`, 'nightly'],
    [lockKey`order:${id}`, 'order:42'],
    [lockKey`${'a'}:${'b'}`, 'a:b'],
    [lockKey`account:${'bob@example.com'}`, 'account:bob@example.com'],
    [lockKey`file:${'a/b c'}`, 'file:a/b c'],
    [lockKey`x:${'a:b'}`, 'x:a%3Ab'],
    [lockKey`x:${'100%'}`, 'x:100%25'],
    [lockKey`x:${'a\nb'}`, 'x:a%0Ab'],
    [lockKey`${'x-y'}-${'x-y'}`, 'x%2Dy-x-y'],
    [lockKey`f:${12n}:${true}:${1.5}`, 'f:12:true:1.5'],
    [lockKey`d:${new Date(0)}`, 'd:1970-01-01T00%3A00%3A00.000Z'],
    [lockKey`a\tb:${'c'}`, 'a\tb:c'],
  ])('makes %j', (made, key) => {
    expect(made).toBe(key);
  });

  it.each(['42', 'bob@example.com', 'a:b', 'a b', 'é', '%', '\u0000', 'a/b', '😀'])(
    'makes the key of a template, for the value %j',
    (value) => {
      const byTemplate = new KeyTemplate('a:<x>/<x>').render(() => value);
      expect(lockKey`a:${value}/${value}`).toBe(byTemplate);
    },
  );

  it('gives different keys where joining gives one', () => {
    expect(lockKey`${'a:b'}:${'c'}`).not.toBe(lockKey`${'a'}:${'b:c'}`);
  });

  it('is the same at each evaluation, with the values of each', () => {
    const keyOf = (value: string) => lockKey`order:${value}`;
    expect(['1', '2', '1'].map(keyOf)).toEqual(['order:1', 'order:2', 'order:1']);
  });

  it.each([
    ['undefined', undefined, 'undefined'],
    ['null', null, 'null'],
    ['an empty string', '', 'the string ""'],
    ['NaN', Number.NaN, 'NaN'],
    ['a list', ['a'], 'an array'],
    ['an object', { toString: 1 }, 'an object'],
    ['a symbol', Symbol('s'), 'Symbol(s)'],
  ])('refuses %s by its number', (_, value, shown) => {
    const error = errorOf(() => lockKey`order:${'a'}:${value as never}`) as LockKeyError;
    expect(error).toBeInstanceOf(LockKeyError);
    expect(error.message).toBe(
      'Lock key "order:${1}:${2}": ${2} must be a non-empty string, a finite number, a bigint, a boolean ' +
        `or a valid Date; got ${shown}`,
    );
    expect(error.key).toBe('order:${1}:${2}');
  });

  it.each([
    ['two values without anything between them', () => lockKey`${'a'}${'b'}`, 'needs a separator'],
    ['a letter between them', () => lockKey`${'a'}x${'b'}`, 'needs a separator'],
    ['nothing at all', () => lockKey``, 'is empty'],
    [
      'a placeholder of templates',
      () => lockKey`order:<id>`,
      'contains <id>: lockKey takes its values as ${…}',
    ],
    [
      'a placeholder of templates behind a value',
      () => lockKey`order:${1}:<id>`,
      'contains <id>: lockKey takes its values as ${…}',
    ],
    ['half of a surrogate pair', () => lockKey`a\ud83d${'b'}`, 'contains half of a surrogate pair'],
  ])('is a TypeError for %s', (_, make, problem) => {
    const error = errorOf(make);
    expect(error).toBeInstanceOf(TypeError);
    expect(error.message).toContain(problem);
  });

  it.each([['order:42'], [['order:', '']], [undefined]])('is no function of %j', (argument) => {
    const error = errorOf(() => lockKey(argument as never));
    expect(error).toBeInstanceOf(TypeError);
    expect(error.message).toBe('lockKey is a tag of template literals: lockKey`order:${id}`');
  });

  it('refuses an escape that has no meaning', () => {
    const strings = Object.assign(['a', undefined], { raw: ['a', '\\u'] });
    expect(() => lockKey(strings as never, 1)).toThrow(
      new TypeError('Lock key "a${1}\\u" contains an escape that is none'),
    );
  });

  it('is an export of the package, too', () => {
    expect(everything.lockKey).toBe(lockKey);
  });
});

it.each(['bob@example.com', 'a b', 'é', 'a:b'])(
  'a template and lockKey exclude each other for %j, and so does a plain key without reserved characters',
  async (who) => {
    const store = new MemoryLockStore();
    const [one, other] = [store, store].map((each) => new LockService(each, { waitTimeout: 0 }));
    const byTemplate = new KeyTemplate('account:<email>').render(() => who);
    await using held = await one!.acquire(byTemplate);
    expect(await other!.tryAcquire(lockKey`account:${who}`)).toBeUndefined();
    expect(await other!.inspect(lockKey`account:${who}`)).toMatchObject({ key: held.key });
    if (!who.includes(':')) expect(await other!.tryAcquire(`account:${who}`)).toBeUndefined();
  },
);
