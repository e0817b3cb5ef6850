import type { LockOptions } from 'nest-holdfast/core';
import {
  DEFAULT_LOCK_OPTIONS,
  checkTtl,
  resolveLockOptions,
} from '../../../lib/core/options/lock-options';
import { show } from '../../../lib/core/options/option-values';
import { errorOf } from '../support/outcome';

const LONGEST = 2_147_483_647;

function resolve(...layers: readonly (LockOptions | undefined)[]) {
  return layers.reduce((base, layer) => resolveLockOptions(base, layer), DEFAULT_LOCK_OPTIONS);
}

/** As a JavaScript caller may pass it. */
function withOption(name: string, value: unknown) {
  return () => resolve({ [name]: value });
}

const MS = 'a whole number of ms from';
const RANGES = [
  { name: 'ttl', from: 10, infinite: false, expected: `${MS} 10 to ${LONGEST}` },
  { name: 'waitTimeout', from: 0, infinite: true, expected: `${MS} 0 to ${LONGEST}, or Infinity` },
  { name: 'retryDelay', from: 0, infinite: false, expected: `${MS} 0 to ${LONGEST}` },
  { name: 'retryJitter', from: 0, infinite: false, expected: `${MS} 0 to ${LONGEST}` },
  {
    name: 'retryCount',
    from: 0,
    infinite: true,
    expected: `a whole number of attempts from 0 to ${LONGEST}, or Infinity`,
  },
  { name: 'maxHold', from: 10, infinite: true, expected: `${MS} 10 to ${LONGEST}, or Infinity` },
  { name: 'minHold', from: 0, infinite: false, expected: `${MS} 0 to ${LONGEST}` },
  { name: 'storeTimeout', from: 1, infinite: false, expected: `${MS} 1 to ${LONGEST}` },
] as const;

it('the defaults are those of the documentation, and frozen', () => {
  expect(DEFAULT_LOCK_OPTIONS).toEqual({
    ttl: 30_000,
    waitTimeout: 10_000,
    maxWaiting: 10_000,
    retryDelay: 200,
    retryJitter: 100,
    retryCount: Infinity,
    autoExtend: true,
    maxHold: Infinity,
    overdueAfter: Infinity,
    minHold: 0,
    storeTimeout: 5_000,
    reentrant: false,
    signal: undefined,
  });
  expect(Object.isFrozen(DEFAULT_LOCK_OPTIONS)).toBe(true);
});

describe.each(RANGES)('$name', ({ name, from, infinite, expected }) => {
  it.each([from, from + 1, LONGEST])('may be %d', (value) => {
    expect(withOption(name, value)()).toMatchObject({ [name]: value });
  });

  it.each([from - 1, LONGEST + 1, from + 0.5, Number.NaN, -Infinity])('may not be %d', (value) => {
    const error = errorOf(withOption(name, value));
    expect(error).toBeInstanceOf(RangeError);
    expect(error.message).toBe(`${name} must be ${expected}, got ${value}`);
  });

  it(infinite ? 'may be Infinity' : 'may not be Infinity', () => {
    if (infinite) expect(withOption(name, Infinity)()).toMatchObject({ [name]: Infinity });
    else expect(withOption(name, Infinity)).toThrow(RangeError);
  });

  it.each([
    ['a string', '100', 'the string "100"'],
    ['null', null, 'null'],
    ['a bigint', 100n, '100n'],
    ['an object', {}, 'an object'],
  ])('may not be %s', (_, value, shown) => {
    const error = errorOf(withOption(name, value));
    expect(error).toBeInstanceOf(TypeError);
    expect(error.message).toBe(`${name} must be ${expected}, got ${shown}`);
  });
});

describe.each(['autoExtend', 'reentrant'] as const)('%s', (name) => {
  it.each([true, false])('may be %s', (value) => {
    expect(resolve({ [name]: value })[name]).toBe(value);
  });

  it.each([1, 'yes', null])('may not be %p', (value) => {
    const error = errorOf(withOption(name, value));
    expect(error).toBeInstanceOf(TypeError);
    expect(error.message).toBe(`${name} must be a boolean, got ${show(value)}`);
  });
});

describe('signal', () => {
  it('may be an AbortSignal', () => {
    const { signal } = new AbortController();
    expect(resolve({ signal }).signal).toBe(signal);
  });

  it.each([
    [new AbortController(), 'an object'],
    [true, 'true'],
  ])('may not be anything else', (value, shown) => {
    const error = errorOf(withOption('signal', value));
    expect(error).toBeInstanceOf(TypeError);
    expect(error.message).toBe(`signal must be an AbortSignal, got ${shown}`);
  });
});

describe('layers', () => {
  it('later ones win, option by option', () => {
    const options = resolve({ ttl: 100, waitTimeout: 5 }, { ttl: 200 }, { retryCount: 3 });
    expect(options).toEqual({ ...DEFAULT_LOCK_OPTIONS, ttl: 200, waitTimeout: 5, retryCount: 3 });
  });

  it('undefined leaves what an earlier one says', () => {
    expect(resolve({ ttl: 100 }, { ttl: undefined }, undefined).ttl).toBe(100);
  });

  it('an object of a class may have them as getters, which are checked, too', () => {
    class Options {
      constructor(readonly time: number) {}
      get ttl(): number {
        return this.time;
      }
    }
    const of = (time: number) => Object.create(new Options(time)) as LockOptions;
    expect(resolve(of(100)).ttl).toBe(100);
    expect(() => resolve(of(-1))).toThrow('ttl must be a whole number of ms from 10');
  });

  it('false and 0 override', () => {
    const options = resolve(
      { autoExtend: true, waitTimeout: 5 },
      { autoExtend: false, waitTimeout: 0 },
    );
    expect(options).toMatchObject({ autoExtend: false, waitTimeout: 0 });
  });

  it('neither the result nor the layers can be changed through each other', () => {
    const layer = Object.freeze({ ttl: 100 });
    const options = resolve(layer);
    expect(Object.isFrozen(options)).toBe(true);
    expect(options).not.toBe(layer);
    expect(DEFAULT_LOCK_OPTIONS.ttl).toBe(30_000);
  });

  it('every layer is checked, also one that is overridden', () => {
    expect(() => resolve({ ttl: 0 }, { ttl: 100 })).toThrow('ttl must be');
  });
});

describe('an unknown option', () => {
  it('is refused by name, with those that exist', () => {
    const error = errorOf(withOption('patience', 5));
    expect(error).toBeInstanceOf(TypeError);
    expect(error.message).toBe(
      'unknown lock option "patience"; known options are ttl, waitTimeout, maxWaiting, retryDelay, retryJitter, ' +
        'retryCount, autoExtend, maxHold, overdueAfter, minHold, storeTimeout, reentrant, permits, signal, mode, name',
    );
  });

  it.each([
    ['waitTimout', 'waitTimeout'],
    ['tll', 'ttl'],
    ['autoextend', 'autoExtend'],
    ['permit', 'permits'],
    ['mod', 'mode'],
  ])('is told what it may have meant: %s, %s', (name, meant) => {
    expect(withOption(name, 5)).toThrow(
      `unknown lock option "${name}" (did you mean ${meant}?); known options are ttl,`,
    );
  });

  it.each([
    ['timeout', 'waitTimeout for the caller, ttl for the store'],
    ['duration', 'ttl'],
    ['lockTimeout', 'ttl'],
    ['lockAtMostFor', 'ttl'],
    ['TTL', 'ttl'],
    ['retries', 'retryCount, or waitTimeout'],
    ['driftFactor', 'no option: the validity allows for the drift of clocks'],
  ])('of another library is told what it is called here: %s, %s', (name, here) => {
    expect(withOption(name, 5)).toThrow(
      `unknown lock option "${name}" (here: ${here}); known options are ttl,`,
    );
  });

  it.each(['every', 'to', 'lock'])('is told nothing that is far off: %s', (name) => {
    expect(withOption(name, 5)).toThrow(`unknown lock option "${name}"; known`);
  });

  it('is refused even when it is undefined', () => {
    expect(withOption('timeout', undefined)).toThrow('unknown lock option "timeout"');
  });

  it.each(['toString', 'constructor'])('is refused when every object has it: %s', (name) => {
    expect(withOption(name, 1)).toThrow(`unknown lock option "${name}"`);
  });
});

describe('minHold and maxHold', () => {
  it('minHold may reach maxHold', () => {
    expect(resolve({ minHold: 50, maxHold: 50 })).toMatchObject({ minHold: 50, maxHold: 50 });
  });

  it('minHold may not exceed maxHold, across layers', () => {
    const error = errorOf(() => resolve({ minHold: 51 }, { maxHold: 50 }));
    expect(error).toBeInstanceOf(RangeError);
    expect(error.message).toBe('minHold (51 ms) must not exceed maxHold (50 ms)');
  });

  it('a later layer may put it right', () => {
    expect(resolve({ minHold: 51 }, { maxHold: 60 }).minHold).toBe(51);
  });
});

it('checkTtl accepts what the option ttl does', () => {
  expect(() => checkTtl(10)).not.toThrow();
  expect(() => checkTtl(9)).toThrow(RangeError);
  expect(() => checkTtl('10')).toThrow('ttl must be');
});

it.each([
  ['', 'the string ""'],
  ['a "b"', 'the string "a \\"b\\""'],
  [5n, '5n'],
  [null, 'null'],
  [undefined, 'undefined'],
  [1.5, '1.5'],
  [true, 'true'],
  [Symbol('s'), 'Symbol(s)'],
  [() => 1, 'a function'],
  [class Store {}, 'a function (Store)'],
  [new Map(), 'an object'],
  [Object.create(null), 'an object'],
])('show(%p) names the value for people', (value, shown) => {
  expect(show(value)).toBe(shown);
});
