import { KeyGlob } from '../../../lib/core/list/key-glob.js';
import { ListCursors } from '../../../lib/core/list/list-cursor.js';
import { ageOfToken } from '../../../lib/core/list/token-age.js';

describe('a glob over keys', () => {
  it.each([
    [undefined, 'anything', true],
    ['', '', true],
    ['', 'a', false],
    ['*', '', true],
    ['*', 'order:1\n2', true],
    ['order:*', 'order:', true],
    ['order:*', 'orders', false],
    ['order:?', 'order:1', true],
    ['order:?', 'order:12', false],
    ['order:?', 'order:', false],
    ['?', '🔒', true],
    ['*:1', 'order:11:1', true],
    ['*a*b', 'aab', true],
    ['*a*b', 'aabc', false],
    ['a**', 'a', true],
    ['[ab]', 'a', false],
    ['[ab]', '[ab]', true],
    ['a\\*', 'a\\bc', true],
    ['a\\*', 'a*', false],
    ['^$.', '^$.', true],
    ['%_', 'ab', false],
  ])('%j takes %j: %s', (match, key, is) => expect(new KeyGlob(match).matches(key)).toBe(is));

  it('knows how every key begins', () => {
    expect(new KeyGlob('order:*:1').start).toBe('order:');
    expect(new KeyGlob('?rder').start).toBe('');
    expect(new KeyGlob('order').start).toBe('order');
    expect(new KeyGlob(undefined).start).toBe('');
  });

  it('costs little for a pattern of many stars', () => {
    const glob = new KeyGlob(`${'*a'.repeat(100)}b`);
    const since = performance.now();
    expect(glob.matches('a'.repeat(10_000))).toBe(false);
    expect(performance.now() - since).toBeLessThan(5_000);
  });
});

describe('the cursor of a list', () => {
  const cursors = new ListCursors<readonly [string, number]>('redis', 'lock:');

  it('is text that brings back a place', () => {
    const cursor = cursors.write(['schlüssel\n', 7]);
    expect(cursor).toMatch(/^[\w.-]+$/);
    expect(cursors.read(cursor)).toEqual(['schlüssel\n', 7]);
    expect(cursors.read(undefined)).toBeUndefined();
  });

  it('is refused where it is changed, or of another store', () => {
    const cursor = cursors.write(['a', 1]);
    const foreign = new ListCursors('redis', 'jobs:').write(['a', 1]);
    const wrong = [
      '',
      'x',
      cursor.slice(1),
      cursor.slice(0, -1),
      `${cursor}x`,
      foreign,
      7 as never,
    ];
    for (const each of wrong)
      expect(() => cursors.read(each)).toThrow(
        expect.objectContaining({
          name: 'TypeError',
          code: 'LOCK_OPTION_INVALID',
          message: expect.stringContaining('cursor must be that of a page before'),
        }),
      );
  });
});

describe('the age of a fencing token', () => {
  const NOW = Date.UTC(2026, 0, 1);
  const micros = (ms: number) => BigInt(ms) * 1_000n;

  it('is that of its clock', () => {
    expect(ageOfToken(micros(NOW - 1_500), NOW)).toBe(1_500);
    expect(ageOfToken(micros(NOW) + 63n, NOW)).toBe(0);
    expect(ageOfToken(micros(NOW + 1), NOW)).toBe(0);
  });

  it('is unknown where the token is no time', () => {
    expect(ageOfToken(undefined, NOW)).toBeUndefined();
    expect(ageOfToken(5n, NOW)).toBeUndefined();
    expect(ageOfToken(micros(NOW + 10_000), NOW)).toBeUndefined();
  });
});
