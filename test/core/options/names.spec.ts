import { named } from '../../../lib/core/options/lock-name.js';
import { unknownOption } from '../../../lib/core/options/option-names.js';
import { aFunction } from '../../../lib/core/options/option-rules.js';
import { checkName, checkWork, show } from '../../../lib/core/options/option-values.js';
import { errorOf } from '../support/outcome';

describe('The name that a lock gets from its key', () => {
  it.each([
    ['the text of the template', 'order:<id>', 'order:<id>'],
    ['the texts of several', ['order:<id>', 'stock:<sku>'], 'order:<id>, stock:<sku>'],
    ['none of a function', () => 'order', undefined],
    ['none of an empty text', '', undefined],
    ['none of an empty list', [], undefined],
    ['200 characters of a long text', 'x'.repeat(300), 'x'.repeat(200)],
    ['no half of a character', `${'x'.repeat(199)}😀`, `${'x'.repeat(199)}\ufffd`],
  ])('is %s', (_, source, name) => {
    expect(named({ ttl: 5 }, source)).toEqual(name === undefined ? { ttl: 5 } : { ttl: 5, name });
  });

  it('is its own where it has one', () => {
    expect(named({ name: 'own' }, 'order:<id>')).toEqual({ name: 'own' });
  });
});

describe('A name that all callers share', () => {
  it.each(['leader', 'a b', '<', 'a<', '<>', 'a > b'])('may be %j', (name) => {
    expect(() => checkName('an election', name)).not.toThrow();
  });

  it.each([
    ['', 'the name of an election must be a string that is not empty, got the string ""'],
    [5, 'the name of an election must be a string that is not empty, got 5'],
    ['leader:<id>', 'the name of an election has no placeholders, got "leader:<id>"'],
    ['<0>', 'the name of an election has no placeholders, got "<0>"'],
  ])('must not be %j', (name, message) => {
    const error = errorOf(() => checkName('an election', name));
    expect(error).toMatchObject({ code: 'LOCK_OPTION_INVALID', message });
  });
});

describe('A value in the message about it', () => {
  const { proxy, revoke } = Proxy.revocable({}, {});
  revoke();
  const nameless = () => 5;
  Object.defineProperty(nameless, 'name', { value: 5 });

  it.each([
    ['a text', 'a\u0007', 'the string "a\\u0007"'],
    ['a text with a secret', 'redis://a:hunter2@host', 'the string "redis://***@host"'],
    ['a bigint', -5n, '-5n'],
    ['a symbol', Symbol('s'), 'Symbol(s)'],
    ['a function', checkName, 'a function (checkName)'],
    [
      'one without a name',
      (
        () => () =>
          5
      )(),
      'a function',
    ],
    ['one whose name is no text', nameless, 'a function'],
    ['null', null, 'null'],
    ['nothing', undefined, 'undefined'],
    ['a list', [1], 'an array'],
    ['an object', { secret: 5 }, 'an object'],
    ['a proxy that was revoked', proxy, 'a proxy that was revoked'],
    ['a number', NaN, 'NaN'],
  ])('of %s says what it is', (_, value, text) => {
    expect(show(value)).toBe(text);
  });
});

it('The work of a call must be a function', () => {
  expect(() => checkWork('withLock', () => 5)).not.toThrow();
  const message = 'withLock expects a function as its last argument, got an object';
  expect(errorOf(() => checkWork('withLock', {}))).toMatchObject({ message });
});

it('An option of another library is translated among the options of a lock only', () => {
  expect(unknownOption('expiry', ['waitTimeout', 'ttl']).message).toContain('(here: ttl)');
  expect(unknownOption('expiry', ['probe', 'timeout'], 'health').message).not.toContain('here');
  expect(unknownOption('constructor', ['waitTimeout']).message).not.toContain('here');
});

it('An option that is a function is nothing else', () => {
  expect(() => aFunction('now', Date.now)).not.toThrow();
  expect(() => aFunction('now', 5)).toThrow('now must be a function, got 5');
});
