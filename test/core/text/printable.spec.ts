import { echo, printable, quoted } from '../../../lib/core/text/printable.js';

describe('printable', () => {
  it.each([
    ['a bell', 'a\u0007b', String.raw`a\u0007b`],
    ['a mark that turns the order of a line', 'a\u202eb', String.raw`a\u202eb`],
    ['an invisible character of another plane', 'a\u{e0001}b', String.raw`a\u{e0001}b`],
  ])('writes %s as an escape', (_, text, expected) => {
    expect(printable(text)).toBe(expected);
  });
});

describe('echo and quoted', () => {
  it('repeat 80 characters, and of a longer text 79 and an ellipsis', () => {
    expect(echo('x'.repeat(80))).toBe('x'.repeat(80));
    expect(echo('x'.repeat(81))).toBe(`${'x'.repeat(79)}…`);
    expect(quoted('x'.repeat(81))).toBe(`"${'x'.repeat(79)}…"`);
  });
});
