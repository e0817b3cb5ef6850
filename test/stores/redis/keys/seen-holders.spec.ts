import { SeenHolders } from '../../../../lib/stores/redis/keys/seen-holders.js';

const [A, B] = ['a.1:host:1:2', 'b.1:host:1:2'];

describe('The holders that a process has told of', () => {
  let seen: SeenHolders;

  beforeEach(() => {
    seen = new SeenHolders();
  });

  it('are found by a token that is as large as the counter was, or larger', () => {
    seen.note('k', A, 7n);
    expect([6n, 7n, 8n].map((token) => seen.find('k', token))).toEqual([undefined, A, A]);
    expect(seen.find('other', 7n)).toBeUndefined();
  });

  it('are kept with the smallest counter that they were seen with', () => {
    seen.note('k', A, 7n);
    seen.note('k', A, 9n);
    expect(seen.find('k', 7n)).toBe(A);
    seen.note('k', A, 5n);
    expect(seen.find('k', 5n)).toBe(A);
  });

  it('are forgotten for the next one', () => {
    seen.note('k', A, 5n);
    seen.note('k', B, 7n);
    expect([5n, 7n].map((token) => seen.find('k', token))).toEqual([undefined, B]);
  });

  it('are the last ten thousand', () => {
    for (let index = 0; index <= 10_000; index++) seen.note(String(index), A, 1n);
    expect(seen.find('0', 1n)).toBeUndefined();
    expect(seen.find('1', 1n)).toBe(A);
    seen.note('1', B, 2n); // the last again
    seen.note('more', A, 1n);
    expect(seen.find('1', 2n)).toBe(B);
    expect(seen.find('2', 1n)).toBeUndefined();
  });

  it('have gone where one was named by the same token, and another one has the key', () => {
    expect(seen.hasGone('k', 7n, B)).toBe(false);
    seen.confirm('k', 7n, A);
    expect(seen.hasGone('k', 7n, A)).toBe(false);
    expect(seen.hasGone('k', 7n, B)).toBe(true);
    expect(seen.hasGone('k', 8n, B)).toBe(false);
  });

  it('are the same when they have been asked to stop', () => {
    seen.confirm('k', 7n, 'a.1!7:host:1:2');
    expect(seen.hasGone('k', 7n, A)).toBe(false);
    expect(seen.hasGone('k', 7n, 'a.1!7:host:1:2')).toBe(false);
    expect(seen.hasGone('k', 7n, 'a.1:host!7:1:2')).toBe(true);
  });
});
