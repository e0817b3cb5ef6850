import * as fc from 'fast-check';
import { LockKeyError } from 'nest-holdfast/core';
import { KeyTemplate } from '../../../lib/core/keys/key-template';
import { errorOf } from '../support/outcome';

function refusal(template: string, values: Readonly<Record<string, unknown>>): LockKeyError {
  const parsed = new KeyTemplate(template);
  const error = errorOf(() => parsed.render((root) => values[root])) as LockKeyError;
  expect(error).toBeInstanceOf(LockKeyError);
  return error;
}

const EXPECTED = 'must be a non-empty string, a finite number, a bigint, a boolean or a valid Date';

afterEach(() => jest.restoreAllMocks());

describe('values that identify nothing are refused by the name of their placeholder', () => {
  it.each([
    ['undefined', undefined, 'undefined'],
    ['null', null, 'null'],
    ['NaN', Number.NaN, 'NaN'],
    ['Infinity', Infinity, 'Infinity'],
    ['-Infinity', -Infinity, '-Infinity'],
    ['an empty string', '', 'the string ""'],
    ['an object', {}, 'an object'],
    ['an object with a toString', { toString: () => 'x' }, 'an object'],
    ['an array', ['a'], 'an array'],
    ['a symbol', Symbol('s'), 'Symbol(s)'],
    ['a Buffer', Buffer.from('a'), 'an object'],
    ['an invalid Date', new Date(Number.NaN), 'an object'],
    ['a Map', new Map(), 'an object'],
    ['a String object', Object('a'), 'an object'],
    ['an object without a prototype', Object.create(null), 'an object'],
  ])('%s', (_, value, shown) => {
    const error = refusal('order:<id>:<o.x>', { id: 1, o: { x: value } });
    expect(error.message).toBe(`Lock key "order:<id>:<o.x>": <o.x> ${EXPECTED}; got ${shown}`);
    expect(error.key).toBe('order:<id>:<o.x>');
  });

  it('a function', () => {
    expect(refusal('<f>', { f: () => 1 }).message).toContain(`<f> ${EXPECTED}; got `);
  });

  it('half of a surrogate pair', () => {
    expect(refusal('<v>', { v: 'a\uD83D' }).message).toBe(
      `Lock key "<v>": <v> ${EXPECTED}; got a string with half of a surrogate pair`,
    );
  });

  it.each(['<v>', '<v:int>', '<v:trim>', '<v:nfc>', '<v:uuid>'])(
    'one that is longer than any key, before %s looks at it',
    (template) => {
      const read = jest.spyOn(globalThis, 'BigInt');
      expect(refusal(template, { v: '9'.repeat(1_000_000) }).message).toBe(
        `Lock key "${template}": ${template} ${EXPECTED}; got 1000000 characters, and a key has at most 512 bytes`,
      );
      expect(refusal(template, { v: 10n ** 600n }).message).toContain('got 601 characters');
      expect(read).not.toHaveBeenCalled(); // half a second for a megabyte of digits
      expect(new KeyTemplate('<v:int>').render(() => '9'.repeat(512))).toBe('9'.repeat(512));
      expect(read).toHaveBeenCalledTimes(1);
    },
  );

  it('what throws when it is read is refused, with its error as the cause', () => {
    const cause = new Error('lazy');
    const order = { get id() { throw cause; } }; // prettier-ignore
    const error = refusal('order:<order.id>', { order });
    expect(error.message).toMatch(/<order.id> must be .*; "order.id" cannot be read$/);
    expect(error.cause).toBe(cause);
    const named = Object.defineProperty(() => 1, 'name', { get: () => { throw cause; } }); // prettier-ignore
    expect(refusal('order:<id>', { id: named }).message).toMatch(/got a function$/);
  });

  it('a path through nothing tells how far it came', () => {
    expect(refusal('<o.a.b>', {}).message).toBe(
      `Lock key "<o.a.b>": <o.a.b> ${EXPECTED}; "o" is undefined`,
    );
    expect(refusal('<o.a.b>', { o: { a: null } }).message).toContain('; "o.a" is null');
    expect(refusal('<o.a.b>', { o: { a: {} } }).message).toContain('; got undefined');
  });

  it.each([
    ['a bigint', 12n, '12'],
    ['true', true, 'true'],
    ['false', false, 'false'],
    ['0', 0, '0'],
    ['-0', -0, '0'],
    ['a fraction', 1.5, '1.5'],
    ['the largest number', Number.MAX_VALUE, '1.7976931348623157e+308'],
    ['a Date', new Date(Date.UTC(2024, 1, 29)), '2024-02-29T00%3A00%3A00.000Z'],
    ['the text "undefined"', 'undefined', 'undefined'],
  ])('but %s is a value', (_, value, text) => {
    expect(new KeyTemplate('k:<v>').render(() => value)).toBe(`k:${text}`);
  });
});

describe('a template that cannot be read', () => {
  const separator =
    'needs a separator between two placeholders that starts with neither a letter, a digit nor "%", such as ":"';
  const literal = 'contains "${": a template is not a JavaScript template literal. Write';
  it.each([
    ['', 'is empty'],
    ['<>', 'has a placeholder without a name: <>'],
    ['a:< >', 'has a placeholder without a name: < >'],
    ['<.id>', 'has a placeholder without a name: <.id>'],
    ['<o..id>', 'has a placeholder without a name: <o..id>'],
    ['<o.>', 'has a placeholder without a name: <o.>'],
    ['<:lower>', 'has a placeholder without a name: <:lower>'],
    ['<id:upper>', 'has an unknown filter ":upper"; known: :lower, :trim, :nfc, :int, :uuid'],
    ['<id:>', 'has an unknown filter ":"; known: :lower, :trim, :nfc, :int, :uuid'],
    ['<id:lower:Trim>', 'has an unknown filter ":Trim"; known: :lower, :trim, :nfc, :int, :uuid'],
    ['<id', 'has a "<" or ">" without its partner'],
    ['id>', 'has a "<" or ">" without its partner'],
    ['<a>:<b', 'has a "<" or ">" without its partner'],
    ['<<a>>', 'has a "<" or ">" without its partner'],
    ['a > b <c>', 'has a "<" or ">" without its partner'],
    ['<a><b>', separator],
    ['<a>x<b>', separator],
    ['<a>Z:<b>', separator],
    ['<a>0<b>', separator],
    ['<a>%<b>', separator],
    ['<a>:<b>x<c>', separator],
    ['order:${id}', `${literal} <id>`],
    ['order:${ order.id }:<x>', `${literal} <order.id>`],
    ['order:${}', `${literal} <id>`],
    ['order:${a', `${literal} <a>`],
    ['order\uD83D:<id>', 'contains half of a surrogate pair, which has no UTF-8 form'],
  ])('%j', (template, problem) => {
    const error = errorOf(() => new KeyTemplate(template));
    expect(error).toBeInstanceOf(TypeError);
    expect(error.message).toBe(`Lock key template "${template}" ${problem}`);
  });

  it.each(['a$', '{a}', '$<a>', '<a>x', 'x<a>', '<a>:x<b>', '<a>-<b>y', 'x<a>/<b>'])(
    'but %j can',
    (template) => {
      expect(() => new KeyTemplate(template)).not.toThrow();
    },
  );
});

describe('two different lists of values never give one key', () => {
  const separators = [':', '-', '.', '_', '~', '/', ' ', '!', '*', "'", '(', '|', 'é', '😀', '#'];
  const literal = fc
    .tuple(fc.constantFrom(...separators), fc.string({ maxLength: 3 }))
    .map(([first, rest]) => first + rest.replaceAll(/[<>{]/g, ''));
  // Few different characters, so that values often look like parts of the key around them.
  const value = fc.string({
    minLength: 1,
    maxLength: 6,
    unit: fc.constantFrom(...separators, 'a', '1', '%', '2', 'D', '3', 'A', 'x', '\u0000', '键'),
  });
  const cases = fc.integer({ min: 1, max: 4 }).chain((count) => {
    const list = fc.array(value, { minLength: count, maxLength: count });
    const literals = fc.array(literal, { minLength: count + 1, maxLength: count + 1 });
    return fc.record({ literals, first: list, second: list });
  });

  it('for any template and any values', () => {
    fc.assert(
      fc.property(cases, ({ literals, first, second }) => {
        const source = first.reduce(
          (text, _, at) => `${text}<${at}>${literals[at + 1]}`,
          literals[0]!,
        );
        const template = new KeyTemplate(source);
        const keys = [first, second].map((values) => template.render((root) => values[+root]));
        expect(keys[0] === keys[1]).toBe(first.every((each, at) => each === second[at]));
      }),
      { numRuns: 2_000 },
    );
  });

  it('also where the parts are joined differently', () => {
    fc.assert(
      fc.property(value, value, value, fc.constantFrom(...separators), (a, b, c, separator) => {
        const template = new KeyTemplate(`<0>${separator}<1>`);
        const one = [a + separator + b, c];
        const other = [a, b + separator + c];
        const keys = [one, other].map((values) => template.render((root) => values[+root]));
        expect(keys[0] === keys[1]).toBe(one[0] === other[0] && one[1] === other[1]);
      }),
      { numRuns: 1_000 },
    );
  });
});
