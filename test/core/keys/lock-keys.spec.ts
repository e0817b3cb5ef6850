import * as fc from 'fast-check';
import { LockKeyError } from 'nest-holdfast/core';
import type { LockKeys } from 'nest-holdfast/core';
import { canonicalKeys, keyNames } from '../../../lib/core/keys/lock-keys';
import { errorOf } from '../support/outcome';

function refusal(keys: unknown): LockKeyError {
  const error = errorOf(() => canonicalKeys(keys as LockKeys)) as LockKeyError;
  expect(error).toBeInstanceOf(LockKeyError);
  expect(error.code).toBe('LOCK_KEY_INVALID');
  return error;
}

describe('one key', () => {
  it.each(['a', ' ', 'order:42', 'a"b\'c', '\u0000\n', '键', '😀'])('may be %j', (key) => {
    expect(canonicalKeys(key)).toEqual([key]);
  });

  it('may not be empty', () => {
    const error = refusal('');
    expect(error.message).toBe('A lock key must not be empty, got the string ""');
    expect(error.key).toBe('the string ""');
  });

  it.each([
    [undefined, 'undefined'],
    [null, 'null'],
    [42, '42'],
    [{}, 'an object'],
    [Symbol('k'), 'Symbol(k)'],
  ])('may not be %p', (key, shown) => {
    expect(refusal(key).message).toBe(
      `A lock key must be a string or a list of strings, got ${shown}`,
    );
  });

  it('may not be a promise, whose rejection does not end the process', async () => {
    const unhandled = jest.fn();
    process.on('unhandledRejection', unhandled);
    try {
      for (const keys of [Promise.reject(new Error('no')), ['a', Promise.reject(new Error('no'))]])
        expect(refusal(keys).message).toMatch(/^A lock key must be a string.*, got a promise$/);
      await new Promise((resolve) => setImmediate(resolve));
      expect(unhandled).not.toHaveBeenCalled();
    } finally {
      process.off('unhandledRejection', unhandled);
    }
  });

  it.each([
    ['ASCII', 'a'.repeat(512)],
    ['two bytes each', 'é'.repeat(256)],
    ['three bytes each', `${'键'.repeat(170)}ab`],
    ['four bytes each', '😀'.repeat(128)],
  ])('may have 512 bytes (%s)', (_, key) => {
    expect(Buffer.byteLength(key)).toBe(512);
    expect(canonicalKeys(key)).toEqual([key]);
  });

  it.each([
    ['ASCII', 'a'.repeat(513)],
    ['two bytes each', `${'é'.repeat(256)}a`],
    ['three bytes each', '键'.repeat(171)],
    ['four bytes each', `${'😀'.repeat(128)}a`],
  ])('may not have 513 bytes (%s)', (_, key) => {
    expect(Buffer.byteLength(key)).toBe(513);
    expect(refusal(key).message).toMatch(
      /^A lock key must be at most 512 bytes, is 513, got the string "/,
    );
  });

  it('is cut to 80 characters in the message', () => {
    expect(refusal('a'.repeat(600)).message).toMatch(/got the string "a{79}…"$/);
  });

  it.each([
    ['the first half', 'a\uD83D'],
    ['the second half', '\uDE00a'],
    ['both in the wrong order', '\uDE00\uD83D'],
  ])('may not contain %s of a surrogate pair', (_, key) => {
    expect(refusal(key).message).toContain(
      'must not contain half of a surrogate pair: it has no UTF-8 form, got the string',
    );
  });
});

describe('several keys', () => {
  it('come in one order, for any order of the caller', () => {
    expect(canonicalKeys(['b', 'a', 'C'])).toEqual(['C', 'a', 'b']);
    expect(canonicalKeys(['10', '9', '1'])).toEqual(['1', '10', '9']);
  });

  it('lose their duplicates', () => {
    expect(canonicalKeys(['b', 'a', 'b'])).toEqual(['a', 'b']);
    expect(canonicalKeys(['a', 'a'])).toEqual(['a']);
  });

  it('leave the list of the caller alone', () => {
    const keys = Object.freeze(['b', 'a']);
    expect(canonicalKeys(keys)).toEqual(['a', 'b']);
    expect(keys).toEqual(['b', 'a']);
  });

  it('must be at least one', () => {
    const error = refusal([]);
    expect(error.message).toBe('A lock key must not be an empty list, got an array');
    expect(error.key).toBe('an array');
  });

  it.each([
    ['empty', ['a', ''], 'must not be empty, got the string ""'],
    ['undefined', ['a', undefined], 'must be a string, got undefined'],
    ['missing', Object.assign(['a'], { length: 2 }), 'must be a string, got undefined'],
    ['a list', ['a', ['b', 'c']], 'must be a string, got an array'],
    ['a number', ['a', 1], 'must be a string, got 1'],
  ])('may not have one that is %s', (_, keys, problem) => {
    expect(refusal(keys).message).toBe(`A lock key ${problem}`);
  });

  it('are the same list for every permutation', () => {
    const someKeys = fc.array(fc.string({ minLength: 1, maxLength: 20, unit: 'grapheme' }), {
      minLength: 1,
    });
    const permutations = someKeys.chain((keys) =>
      fc.tuple(
        fc.constant(keys),
        fc.shuffledSubarray([...keys, ...keys], { minLength: keys.length * 2 }),
      ),
    );
    fc.assert(
      fc.property(permutations, ([keys, shuffled]) => {
        expect(canonicalKeys(shuffled)).toEqual(canonicalKeys(keys));
      }),
    );
  });
});

it('more than 1,000 keys are refused, before any of them is looked at', () => {
  const list = (length: number) => Array.from({ length }, (_, index) => `sku:${index}`);
  expect(canonicalKeys(list(1_000))).toHaveLength(1_000);
  const refused = () => canonicalKeys(list(1_001));
  expect(refused).toThrow(LockKeyError);
  expect(refused).toThrow(/^A lock takes at most 1000 keys, got a list of 1001$/);
});

it('several keys are named with a comma and a blank between them', () => {
  expect(keyNames(['a'])).toBe('a');
  expect(keyNames(['a', 'b', 'c'])).toBe('a, b, c');
});
