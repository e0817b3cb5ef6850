import { KeyTemplate } from '../../lib/core/key-template';

function render(template: string, values: Readonly<Record<string, unknown>> = {}): string {
  return new KeyTemplate(template).render((root) => values[root]);
}

describe('a template', () => {
  it('without placeholders is a key', () => {
    expect(render('nightly report')).toBe('nightly report');
    expect(new KeyTemplate('nightly report').placeholders).toEqual([]);
  });

  it('is filled by name, by position and by path', () => {
    expect(render('order:<id>', { id: 42 })).toBe('order:42');
    expect(render('<0>/<1>', { 0: 'a', 1: 'b' })).toBe('a/b');
    expect(render('x<order.customer.id>y', { order: { customer: { id: 7 } } })).toBe('x7y');
    expect(render('<list.0.id>', { list: [{ id: 'first' }] })).toBe('first');
    expect(render('<text.length>', { text: 'four' })).toBe('4');
  });

  it('tells its placeholders, in order', () => {
    const template = new KeyTemplate('a:<x.id>:<0>:b:<x.name:lower>');
    expect(template.placeholders).toMatchObject([
      { root: 'x', path: ['id'] },
      { root: '0', path: [] },
      { root: 'x', path: ['name'] },
    ]);
    expect(template.source).toBe('a:<x.id>:<0>:b:<x.name:lower>');
  });

  it('asks for the roots only, once for each placeholder', () => {
    const valueOf = jest.fn((root: string) => (root === 'a' ? { b: 1 } : 2));
    expect(new KeyTemplate('<a.b>:<c>:<c>').render(valueOf)).toBe('1:2:2');
    expect(valueOf.mock.calls).toEqual([['a'], ['c'], ['c']]);
  });

  it('ignores blanks inside a placeholder', () => {
    expect(render('< id >:< name : lower : trim >', { id: 1, name: ' AB ' })).toBe('1:ab');
  });

  it('can be rendered again and again', () => {
    const template = new KeyTemplate('<a>:<b>');
    expect(template.render((root) => root)).toBe('a:b');
    expect(template.render((root) => root + root)).toBe('aa:bb');
  });
});

describe('filters', () => {
  it.each([
    ['<v:lower>', 'ÄBc', 'äbc'],
    ['<v:lower>', true, 'true'],
    ['<v:trim>', ' \t a b\n', 'a b'],
    ['<v:lower:trim>', ' A ', 'a'],
    ['<v:trim:int>', ' 042 ', '42'],
    ['<v:int>', '042', '42'],
    ['<v:int>', '+42', '42'],
    ['<v:int>', '-042', '-42'],
    ['<v:int>', '-0', '0'],
    ['<v:int>', '0', '0'],
    ['<v:int>', 42, '42'],
    ['<v:int>', 42n, '42'],
    ['<v:int>', '123456789012345678901234567890', '123456789012345678901234567890'],
  ])('%s of %p is %s', (template, value, text) => {
    expect(decodeURIComponent(render(template, { v: value }))).toBe(text);
  });

  it.each(['4.2', '4a', 'a4', '', ' 4', '+', '--4', '0x10', '1e3', 1.5, 1e21, true, '٤'])(
    ':int refuses %p',
    (value) => {
      expect(() => render('n:<v:int>', { v: value })).toThrow(
        /^Lock key "n:<v:int>": <v:int> must be .*; :int expects a whole number, got /,
      );
    },
  );

  it('are applied in the order written', () => {
    expect(() => render('<v:int:trim>', { v: ' 1' })).toThrow(':int expects');
    expect(render('<v:trim:int>', { v: ' 1' })).toBe('1');
  });

  it('what is left must not be empty', () => {
    expect(() => render('<v:trim>', { v: '  ' })).toThrow('<v:trim> must be a non-empty string');
  });
});

describe('values', () => {
  it.each([
    ['a b', 'a%20b'],
    ['a:b', 'a%3Ab'],
    ['a/b', 'a%2Fb'],
    ['100%', '100%25'],
    ['<x>', '%3Cx%3E'],
    ['ä', '%C3%A4'],
    ['😀', '%F0%9F%98%80'],
    ["a-b_c.d~e!f*g'h(i)", "a-b_c.d~e!f*g'h(i)"],
    ['\u0000', '%00'],
  ])('%j is written %s', (value, text) => {
    expect(render('k:<v>', { v: value })).toBe(`k:${text}`);
  });

  it.each(['-', '_', '.', '~', '!', '*', "'", '(', ')'])(
    'the separator %s after a value is escaped in it, and only there',
    (separator) => {
      const code = separator.charCodeAt(0).toString(16).toUpperCase();
      const value = `x${separator}y${separator}`;
      const rendered = render(`k${separator}<a>${separator}z<b>`, { a: value, b: value });
      expect(rendered).toBe(`k${separator}x%${code}y%${code}${separator}z${value}`);
    },
  );

  it('a separator that is escaped anyway is not escaped twice', () => {
    expect(render('<a>:<b>', { a: 'x:y', b: 'x:y' })).toBe('x%3Ay:x%3Ay');
  });

  it.each(['é', '😀', ' '])('may be separated by %j', (separator) => {
    const rendered = render(`<a>${separator}<b>`, { a: `1${separator}`, b: '2' });
    expect(rendered).toBe(`1${encodeURIComponent(separator)}${separator}2`);
  });
});
