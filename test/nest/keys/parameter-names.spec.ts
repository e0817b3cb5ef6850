import { runInThisContext } from 'node:vm';
import * as fc from 'fast-check';
import { methodSignature } from '../../../lib/nest/keys/parameter-names.js';

/** The names that are read from the method `m` of a class with this source. */
function namesOf(source: string, method: PropertyKey = 'm'): (string | undefined)[] | undefined {
  // As compilers emit it, untouched by ours.
  const type = runInThisContext(`(${source})`) as { prototype: Record<PropertyKey, unknown> };
  return namesIn(type.prototype[method] as Function);
}

function namesIn(method: Function): (string | undefined)[] | undefined {
  return methodSignature(method)?.parameters.map(({ name }) => name);
}

describe('the names of parameters are read from', () => {
  it.each<[string, string, (string | undefined)[]]>([
    ['a plain method', 'class { m(a, b) {} }', ['a', 'b']],
    ['a method without any', 'class { m() {} }', []],
    ['an async method', 'class { async m(a) {} }', ['a']],
    ['a generator', 'class { *m(a) {} }', ['a']],
    ['an async generator', 'class { async *m(a, b) {} }', ['a', 'b']],
    [
      'one that is called async',
      'class { m(async, get, set, static_) {} }',
      ['async', 'get', 'set', 'static_'],
    ],
    ['comments', 'class { m(/* id, */ a /* , x */, // y)\n b) {} }', ['a', 'b']],
    [
      'strings with parentheses',
      `class { m(a = ")(", b = '){', c = \`)\${"("}\`) {} }`,
      ['a', 'b', 'c'],
    ],
    ['regular expressions', 'class { m(a = /[)(/]\\)/g, b = 4 / 2 / 1) {} }', ['a', 'b']],
    ['default functions', 'class { m(a = (x, y) => x, b = function (z) {}) {} }', ['a', 'b']],
    [
      'default calls and objects',
      'class { m(a = { b: [1, 2] }, c = Math.max(1, 2)) {} }',
      ['a', 'c'],
    ],
    ['destructuring', 'class { m({ a, b: { c } }, [d], e) {} }', [undefined, undefined, 'e']],
    ['destructuring with defaults', 'class { m({ a = 1 } = {}, b) {} }', [undefined, 'b']],
    ['rest', 'class { m(a, ...b) {} }', ['a', 'b']],
    ['destructured rest', 'class { m(...[a, b]) {} }', [undefined]],
    ['private fields in the body', 'class { #x = 1; m(a) { return #x in a && this.#x } }', ['a']],
    ['super in the body', 'class extends Object { async m(a) { return super.toString() } }', ['a']],
    ['a static neighbour', 'class { static m(x) {} get n() { return 1 } m(a) {} }', ['a']],
    ['new.target and arguments', 'class { m(a) { return [new.target, arguments] } }', ['a']],
    ['names beyond ASCII', 'class { m(größe, $1, _, 名) {} }', ['größe', '$1', '_', '名']],
    ['keywords as method names', 'class { delete(a) {} m(b) {} }', ['b']],
    ['numeric separators and bigints', 'class { m(a = 1_000n, b = 0x1f) {} }', ['a', 'b']],
    ['new regular expressions', 'class { m(a = /[\\p{L}--[a-z]]/v) {} }', ['a']],
    ['optional chains', 'class { m(a) { return a?.b ?? (a ||= 1) } }', ['a']],
    ['nested classes', 'class { m(a) { return class { static { this.x = 1 } #y() {} } } }', ['a']],
  ])('%s', (_what, source, names) => {
    expect(namesOf(source)).toEqual(names);
  });

  it('computed, quoted, numeric and symbol names', () => {
    expect(namesOf(`class { ['a' + '(b)'](x) {} }`, 'a(b)')).toEqual(['x']);
    expect(namesOf(`class { 'with blank'(x) {} }`, 'with blank')).toEqual(['x']);
    expect(namesOf('class { 42(x) {} }', 42)).toEqual(['x']);
    expect(namesOf('class { async *[Symbol.asyncIterator](x) {} }', Symbol.asyncIterator)).toEqual([
      'x',
    ]);
  });

  it('methods called like keywords', () => {
    for (const name of ['get', 'set', 'async', 'function', 'await', 'yield', 'new']) {
      expect(namesOf(`class { ${name}(x) {} }`, name)).toEqual(['x']);
      expect(namesOf(`class { async ${name}(x) {} }`, name)).toEqual(['x']);
    }
  });

  it('functions that a decorator has put in place of the method', () => {
    expect(namesIn(function (a: unknown, b: unknown) { return [a, b]; })).toEqual(['a', 'b']); // prettier-ignore
    expect(namesIn(function named(a: unknown) { return a; })).toEqual(['a']); // prettier-ignore
    expect(namesIn(async function (a: unknown) { return a; })).toEqual(['a']); // prettier-ignore
    expect(namesIn((a: unknown, ...rest: unknown[]) => [a, rest])).toEqual(['a', 'rest']);
    expect(namesIn(async (a: unknown) => a)).toEqual(['a']);
    expect(namesIn(runInThisContext('x => x') as Function)).toEqual(['x']); // as no formatter writes it
  });

  it('methods of modules, which may use import.meta', () => {
    const method = { toString: () => 'm(a) { return import.meta.url }' };
    const source = jest.spyOn(Function.prototype, 'toString').mockReturnValue(method.toString());
    const signature = methodSignature(function m() {});
    source.mockRestore();
    expect(signature).toMatchObject({ text: 'm(a)', parameters: [{ name: 'a', kind: 'plain' }] });
  });

  it('the output of this compiler for TypeScript', () => {
    class Typed {
      readonly #secret = 1;

      async m<T extends string>(this: Typed, a: T, b?: number, c: string = 'x)', ...d: T[]) {
        return [a satisfies string, b!, c as unknown, d, this.#secret];
      }
    }
    const { prototype } = Typed;
    expect(namesIn(prototype['m' as const])).toEqual(['a', 'b', 'c', 'd']);
  });
});

it('native and bound functions have no names to read', () => {
  expect(methodSignature(Array.prototype.map)).toBeUndefined();
  expect(methodSignature(namesOf.bind(undefined))).toBeUndefined();
});

it('the signature is quoted as it stands, on one line', () => {
  const source = `({ async m(a,
    b = 1, { c } = { c: 1 }) {} }).m`;
  expect(methodSignature(runInThisContext(source) as Function)?.text).toBe(
    'm(a, b = 1, { c } = { c: 1 })',
  );
});

it('any list of parameters is read in its order', () => {
  const name = fc.stringMatching(/^[a-z$_][a-zA-Z0-9$_]{2,8}$/).filter((each) => isName(each));
  const value = fc.constantFrom(
    '1',
    '")"',
    "'('",
    '/[(]/',
    '{ a: [")"] }',
    '() => ({})',
    '`}${1}`',
  );
  const parameter = fc.record({ name, value: fc.option(value), comment: fc.boolean() });
  const list = fc.uniqueArray(parameter, { selector: (each) => each.name, maxLength: 6 });
  fc.assert(
    fc.property(list, fc.constantFrom('', 'async ', '*', 'async *'), (parameters, kind) => {
      const written = parameters.map(
        (each) =>
          `${each.comment ? '/* ),( */ ' : ''}${each.name}${each.value === null ? '' : ` = ${each.value}`}`,
      );
      const names = namesOf(`class { ${kind}m(${written.join(',')}) { return ")" } }`);
      expect(names).toEqual(parameters.map((each) => each.name));
    }),
  );
});

function isName(text: string): boolean {
  try {
    runInThisContext(`(class { async *m() { let ${text} } })`);
    return true;
  } catch {
    return false;
  }
}
