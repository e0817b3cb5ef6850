import { KeyTemplate } from '../../../lib/core/keys/key-template';

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
    ['<v:nfc>', 'e\u0301', 'é'],
    ['<v:nfc>', 'é', 'é'],
    ['<v:nfc>', '\u1112\u1161\u11ab', '한'],
    ['<v:lower:nfc>', 'E\u0301', 'é'],
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

  const UUID = 'a6e4cdd8-3c1b-4b5e-9f0a-bcdefabcdefa';
  it.each([
    UUID,
    UUID.toUpperCase(),
    'A6e4cDD8-3c1b-4B5E-9f0a-bcdefABCdefa',
    `{${UUID}}`,
    UUID.replaceAll('-', ''),
    'a6e4-cdd8-3c1b-4b5e-9f0a-bcde-fabc-defa',
    `{${UUID.toUpperCase().replaceAll('-', '')}}`,
  ])(':uuid makes one spelling of %s', (value) => {
    expect(render('order:<v:uuid>', { v: value })).toBe(`order:${UUID}`);
  });

  it.each([
    '42',
    `${UUID}0`,
    UUID.slice(1),
    `{${UUID}`,
    `${UUID}}`,
    `{${UUID}}x`,
    `{{${UUID}}}`,
    ` ${UUID}`,
    `${UUID}\n`,
    `${UUID}-`,
    `-${UUID}`,
    UUID.replace('-', '--'),
    UUID.replace('a', 'g'),
    'a-6e4cdd83c1b4b5e9f0abcdefabcdefa',
    42,
  ])(':uuid refuses %j', (value) => {
    expect(() => render('n:<v:uuid>', { v: value })).toThrow(
      /^Lock key "n:<v:uuid>": <v:uuid> must be .*; :uuid expects a UUID, got /,
    );
  });

  it('are applied in the order written', () => {
    expect(() => render('<v:int:trim>', { v: ' 1' })).toThrow(':int expects');
    expect(render('<v:trim:int>', { v: ' 1' })).toBe('1');
  });

  it('the rest must not be empty', () => {
    expect(() => render('<v:trim>', { v: '  ' })).toThrow('<v:trim> must be a non-empty string');
  });
});

describe('values', () => {
  it.each([
    'bob@example.com',
    'a b',
    'a/b?c=d&e=f#g',
    '<x>{y}[z]',
    'ä',
    'e\u0301',
    '😀',
    "a-b_c.d~e!f*g'h(i)",
    '"a"',
    '\u2028',
  ])('%j stands in the key as it is', (value) => {
    expect(render('k:<v>', { v: value })).toBe(`k:${value}`);
    expect(render('<v>:k', { v: value })).toBe(`${value}:k`);
  });

  it.each([
    ['a:b', 'a%3Ab'],
    ['100%', '100%25'],
    ['%3A', '%253A'],
    ['\u0000', '%00'],
    ['a\r\nb', 'a%0D%0Ab'],
    ['\u007f', '%7F'],
    ['\u0085', '%C2%85'],
  ])('%j is written %s', (value, text) => {
    expect(render('k:<v>', { v: value })).toBe(`k:${text}`);
  });

  it.each([...'-_.~!*\'()/ @|"#'.split(''), 'é', '😀'])(
    'the separator %s after a value is escaped in it, and only there',
    (separator) => {
      const bytes = Buffer.from(separator).toString('hex').toUpperCase();
      const code = bytes.replaceAll(/../g, '%$&');
      const value = `x${separator}y${separator}`;
      const rendered = render(`k${separator}<a>${separator}z<b>`, { a: value, b: value });
      expect(rendered).toBe(`k${separator}x${code}y${code}${separator}z${value}`);
    },
  );

  it('only the first character of a longer separator is escaped', () => {
    expect(render('<a> - <b>', { a: 'x-y z', b: '1 - 2' })).toBe('x-y%20z - 1 - 2');
  });

  it('half of a character is no separator', () => {
    expect(render('<a>😀<b>', { a: '😁', b: '2' })).toBe('😁😀2');
  });

  it('a separator that is escaped anyway is not escaped twice', () => {
    expect(render('<a>:<b>', { a: 'x:y', b: 'x:y' })).toBe('x%3Ay:x%3Ay');
  });
});

describe('the keys that two templates may share', () => {
  it.each([
    ['order:<id>', { id: 'a:b' }, 'order:<x>:<y>', { x: 'a', y: 'b' }],
    ['order:<id>', { id: '7' }, 'refund:<id>', { id: '7' }],
    [
      '<tenant>:<id>',
      { tenant: 'a', id: 'b:c' },
      '<tenant>:<id>:<line>',
      { tenant: 'a', id: 'b', line: 'c' },
    ],
  ])('%s of %j is never %s of %j: the words between colons differ', (one, ones, other, others) => {
    expect(render(one, ones)).not.toBe(render(other, others));
  });

  it.each([
    ['<kind>:<id>', { kind: 'refund', id: '7' }, 'refund:<id>', { id: 7 }],
    ['<tenant>:orders', { tenant: 'orders' }, 'orders:<id>', { id: 'orders' }],
    ['order-<id>', { id: '5-items' }, 'order-<id>-items', { id: 5 }],
  ])('%s of %j is %s of %j, as the docs say', (one, ones, other, others) => {
    expect(render(one, ones)).toBe(render(other, others));
  });
});
