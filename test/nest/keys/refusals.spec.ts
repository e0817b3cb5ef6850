import { KeyTemplate } from '../../../lib/core/keys/key-template.js';
import { mayBeForeign, refuseForeignNotation } from '../../../lib/nest/keys/foreign-notation.js';
import { methodKey } from '../../../lib/nest/keys/method-key.js';
import { refuseRenamed, refuseRequest, unknownName } from '../../../lib/nest/keys/name-refusals.js';
import type { MethodSignature } from '../../../lib/nest/keys/parameter-names.js';
import { errorOf } from '../../core/support/outcome.js';

/** Where a placeholder stands, in a method with parameters of these names; `{}` is destructured. */
function siteOf(source: string, names: readonly string[] | undefined, isHidden = false) {
  const parameters = (names ?? []).map((name) =>
    name === '{}'
      ? ({ name: undefined, kind: 'destructured' } as const)
      : ({ name, kind: 'plain' } as const),
  );
  const text = `run(${(names ?? []).join(', ')})`;
  const signature: MethodSignature | undefined = names && { parameters, text, isHidden };
  const template = new KeyTemplate(source);
  return { site: { label: '@X', template, signature }, named: template.placeholders[0]! };
}

const messageOf = (call: () => unknown) => errorOf(call).message;

describe('A placeholder that names no parameter', () => {
  const advice = (source: string, names?: readonly string[], isHidden = false) => {
    const { site, named } = siteOf(source, names, isHidden);
    return unknownName(named, site).message;
  };

  it.each<[string, readonly string[] | undefined, string]>([
    ['<id>', ['one'], 'position of the parameter, <0> for the first, mark'],
    ['<id.x>', ['one'], 'position of the parameter, <0.x> for the first, mark'],
    ['<id>', ['{}'], 'position of the parameter, <0.id>, mark'],
    ['<id.x>', ['{}'], 'position of the parameter, <0.id.x>, mark'],
    ['<id>', ['one', '{}'], '<0> for the first or <1.id> for the destructured one, mark'],
    ['<id>', ['{}', 'one'], '<0> for the first or <0.id> for the destructured one, mark'],
    [
      '<id>',
      ['_0', 'one'],
      '<0> for the first or <0.id> if that is destructured in the source, mark',
    ],
    [
      '<id>',
      ['one', '_12'],
      '<0> for the first or <0.id> if that is destructured in the source, mark',
    ],
    ['<id>', ['x_1', '_1x', '_', '_a'], 'position of the parameter, <0> for the first, mark'],
    ['<id>', [], 'position of the parameter, <0> for the first, mark'],
    ['<id>', undefined, '<0> for the first or <0.id> if that is destructured in the source, mark'],
  ])('is told what to write: %s of %j', (source, names, expected) => {
    expect(advice(source, names)).toContain(expected);
  });

  it('is told of a method that may be hidden', () => {
    expect(advice('<id>', ['one'], true)).toContain('if that is destructured in the source');
  });

  it.each([
    ['<id>', '<request.params.id>'],
    ['<param.id>', '<request.params.id>'],
    ['<req.body.id>', '<request.body.id>'],
    ['<req.query.a.b>', '<request.query.a.b>'],
    ['<headers.etag>', '<request.headers.etag>'],
    ['<user.id>', '<request.user.id>'],
    ['<user>', '<request.params.user>'],
  ])('is told how to read the request: %s', (source, expected) => {
    expect(advice(source, ['one'])).toMatch(new RegExp(`The request is read by ${expected}$`));
  });

  it('is told what was found', () => {
    expect(advice('<id>', ['one'])).toContain('names no parameter (found run(one))');
    expect(advice('<id>')).toContain('names no parameter (the parameters could not be read)');
  });
});

describe('A name that a build may give to another parameter', () => {
  const why = (root: string, names?: readonly string[]) => {
    const { site } = siteOf(`<${root}>`, names);
    return messageOf(() => {
      refuseRenamed(root, site);
      throw new Error('none');
    });
  };

  it.each([
    ['a', ['a', 'order'], /minifiers give names of one letter/],
    ['$', ['$', 'order'], /minifiers give names of one letter/],
    ['_12', ['_12', 'order'], /minifiers give names of one letter/],
    ['id', ['id', 'id2'], /and id2 differs by a number only/],
    ['id', ['id', 'id_12'], /and id_12 differs by a number only/],
    ['id2', ['id', 'id2'], /and id differs by a number only/],
    ['id', ['id', 'id$1'], /and id\$1 differs by a number only/],
  ])('is refused: %s of %j', (root, names, expected) => {
    expect(why(root, names)).toMatch(expected);
  });

  it.each([
    ['id', ['id', 'idx2']],
    ['id', ['id', 'id2x']],
    ['id', ['id', 'id__2']],
    ['id', ['id', 'order']],
    ['_', ['_', 'order']],
    ['_a1', ['_a1', 'order']],
    ['a_1', ['a_1', 'order']],
    ['a', ['a']],
    ['id', undefined],
  ])('is taken: %s of %j', (root, names) => {
    expect(why(root, names)).toBe('none');
  });
});

describe('A placeholder of the request', () => {
  const refusal = (source: string, names?: readonly string[], before = false, isHidden = false) => {
    const { site, named } = siteOf(source, names, isHidden);
    return messageOf(() => {
      refuseRequest(named, site, before);
      throw new Error('none');
    });
  };

  it.each([
    [
      '<request.id>',
      ['one', 'request'],
      /reads the request of a handler, and never a parameter .*<1.id>/,
    ],
    ['<request.params.id>', ['request2'], /never a parameter .*<0.params.id>/],
    ['<request.id>', ['request_12'], /never a parameter/],
    ['<request.id>', ['request$1'], /never a parameter/],
    ['<request.id>', ['a', 'b'], /may mean a parameter that is called request/],
    ['<request.id>', ['_0'], /may mean a parameter/],
    ['<request.id>', undefined, /may mean a parameter .*the parameters could not be read/],
  ])('is refused where it may be a parameter: %s of %j', (source, names, expected) => {
    expect(refusal(source, names)).toMatch(expected);
  });

  it.each([
    ['<request.id>', ['order', '{}']],
    ['<request.id>', ['requested', 'request2x', 'xrequest2']],
    ['<request.params.id>', ['a']],
    ['<request.ip>', undefined],
  ])('is taken elsewhere: %s of %j', (source, names) => {
    expect(refusal(source, names)).toBe('none');
  });

  it('is taken before pipes, where there are no parameters, and refused of a hidden method', () => {
    expect(refusal('<request.id>', ['a'], true)).toBe('none');
    expect(refusal('<request.id>', ['order'], false, true)).toMatch(/may mean a parameter/);
  });
});

describe('A placeholder of another notation', () => {
  const refusal = (source: string, names: readonly string[] = ['id', 'request']) =>
    messageOf(() => {
      refuseForeignNotation('@X', new KeyTemplate(source), (name) => names.includes(name));
      throw new Error('none');
    });

  it.each([
    [
      'order:{id}',
      /\{id\} in "order:\{id\}" is no placeholder, though id is a parameter. Write <id>,/,
    ],
    ['order:#id.x', /#id.x in .* Write <id.x>,/],
    ['order:$id', /\$id in /],
    ['order::id', /:id in .* Write <id>,/],
    ['order/id.x', /id.x in .*though id is a parameter/],
    [
      '{request.params.id}',
      /though request is the request of a handler. Write <request.params.id>/,
    ],
    ['<other>:{id}', /\{id\} in /],
  ])('is refused: %s', (source, expected) => {
    expect(refusal(source)).toMatch(expected);
  });

  it.each(['order:{other}', '{id}:<id.x>', 'order:id', 'plain', '<id.{x>'])(
    'is text: %s',
    (source) => {
      expect(refusal(source)).toBe('none');
    },
  );

  it('of the request is one only with a field behind it', () => {
    expect(refusal('{request}', [])).toBe('none');
    expect(refusal('{request.id}', [])).toMatch(/Write <request.id>/);
  });

  it.each([
    ['order:{id}', true],
    ['order:$id', true],
    ['order:id', false],
    ['order', false],
  ])('may be one: %s, %s', (source, expected) => {
    expect(mayBeForeign(source)).toBe(expected);
  });
});

describe('The key of a method', () => {
  const none = { keys: new Map<string, number>(), locks: [] };
  const keyOf = (source: never, method: Function, marks = none) =>
    methodKey(source, { label: '@X', method, marks, requestOnly: false });
  const of = (source: string, method: Function, ...args: unknown[]) =>
    keyOf(source as never, method)(args, () => 'the request');

  class Methods {
    withDefault(_id = 5) {}
    withRest(..._ids: unknown[]) {}
    none() {}
  }
  const { withDefault, withRest, none: empty } = Methods.prototype as unknown as Record<string, Function>; // prettier-ignore

  it('reads positions and marks of a method that cannot be read', () => {
    const native = empty!.bind(undefined);
    expect(of('a:<0>:<7>', native, 'x', 1, 2, 3, 4, 5, 6, 'y')).toBe('a:x:y');
    const marks = { keys: new Map([['id', 1]]), locks: [] };
    expect(keyOf('a:<id>' as never, native, marks)(['x', 'y'], () => 0)).toBe('a:y');
    expect(messageOf(() => of('a:<id>', native))).toMatch(/the parameters could not be read/);
  });

  it('reads no position that the method does not have', () => {
    expect(messageOf(() => of('a:<0>', empty!))).toMatch(/<0> in "a:<0>" names no parameter \(found none\(\)\)/); // prettier-ignore
    expect(messageOf(() => of('a:<1>', withDefault!, 'x'))).toMatch(/<1> in "a:<1>" names no/);
    expect(of('a:<3>', withRest!, 1, 2, 3, 'd')).toBe('a:d');
  });

  it('tells a default that was left to the method from a value that identifies nothing', () => {
    expect(of('a:<_id>', withDefault!, 'x')).toBe('a:x');
    expect(messageOf(() => of('a:<_id>', withDefault!, undefined))).toMatch(/was not passed/);
    expect(messageOf(() => of('a:<_id>', withDefault!, null))).toMatch(/null/);
  });
});
