import { runInThisContext } from 'node:vm';
import { methodSignature } from '../../../lib/nest/keys/parameter-names.js';

class Methods {
  none() {}
  plain(_a: unknown, _b: unknown) {}
  defaults(_a = 1, { b = 2 } = {}, _c?: unknown) {
    return b;
  }
  rest(_a: unknown, ..._b: unknown[]) {}
  onlyRest(..._all: unknown[]) {}
  destructured({ a }: { a?: unknown }, [b]: unknown[], ...[c]: unknown[]) {
    return [a, b, c];
  }
  usesArguments() {
    // oxlint-disable-next-line eslint/prefer-rest-params -- what other decorators put in the place of a method
    return arguments.length;
  }
}

const signatureOf = (property: keyof Methods) =>
  methodSignature(Reflect.get(Methods.prototype, property) as Function)!;

describe('The parameters of a method', () => {
  it.each<[keyof Methods, [string | undefined, string][]]>([
    ['none', []],
    [
      'plain',
      [
        ['_a', 'plain'],
        ['_b', 'plain'],
      ],
    ],
    [
      'defaults',
      [
        ['_a', 'default'],
        [undefined, 'destructured'],
        ['_c', 'plain'],
      ],
    ],
    [
      'rest',
      [
        ['_a', 'plain'],
        ['_b', 'rest'],
      ],
    ],
    [
      'destructured',
      [
        [undefined, 'destructured'],
        [undefined, 'destructured'],
        [undefined, 'rest'],
      ],
    ],
  ])('have their kinds: %s', (property, expected) => {
    const { parameters } = signatureOf(property);
    expect(parameters.map(({ name, kind }) => [name, kind])).toEqual(expected);
  });

  it('stand in messages as in the source, on one line', () => {
    expect(signatureOf('none').text).toBe('none()');
    expect(signatureOf('plain').text).toBe('plain(_a, _b)');
    const { m } = runInThisContext('({ m(a,\n  b) {} })') as { m: Function };
    const method = methodSignature(m)!;
    expect(method.text).toBe('m(a, b)');
  });

  it.each<[keyof Methods, boolean]>([
    ['none', false],
    ['plain', false],
    ['rest', false],
    ['onlyRest', true],
    ['usesArguments', true],
  ])('may be those of a function in its place: %s', (property, isHidden) => {
    expect(signatureOf(property).isHidden).toBe(isHidden);
  });

  it('cannot be read of native code', () => {
    expect(methodSignature(Array.prototype.map)).toBeUndefined();
    expect(methodSignature(class {})).toBeUndefined();
  });
});
