import {
  READERS,
  holdModeOf,
  isPermit,
  isReader,
  isShared,
} from '../../../lib/core/sharing/hold-mode';
import { permitsIn, permitsText } from '../../../lib/core/sharing/permits-text';

const KINDS = [
  { permits: undefined, mode: 'write', text: 'write', shared: false, reader: false, permit: false },
  { permits: READERS, mode: 'read', text: 'read', shared: true, reader: true, permit: false },
  { permits: 1, mode: 'permits', text: '1', shared: true, reader: false, permit: true },
  { permits: 25, mode: 'permits', text: '25', shared: true, reader: false, permit: true },
] as const;

describe.each(KINDS)('A request with the permits $permits', ({ permits, mode, text, ...is }) => {
  it(`is held in the mode ${mode}`, () => {
    expect(holdModeOf(permits)).toBe(mode);
    expect({
      shared: isShared(permits),
      reader: isReader(permits),
      permit: isPermit(permits),
    }).toEqual(is);
  });

  it('is the same after it was written and read', () => {
    expect(permitsText(permits)).toBe(text);
    expect(permitsIn(text)).toBe(permits);
  });
});

it('a store may have a word of its own for readers', () => {
  expect([READERS, 3, undefined].map((permits) => permitsText(permits, 'inf'))).toEqual([
    'inf',
    '3',
    'write',
  ]);
});

it('another text is no number of permits', () => expect(permitsIn('reads')).toBeNaN());
