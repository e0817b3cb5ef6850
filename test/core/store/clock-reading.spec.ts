import { clockReading, hasJumped, sharper } from '../../../lib/core/store/clock-reading.js';

/** A moment of ours; our monotonic clock shows 500 ms less. */
const at = (now: number, monotonic = now - 500) => ({ now, monotonic });

describe('clockReading', () => {
  it('takes the middle between request and answer, and half of the time between as its reach', () => {
    expect(clockReading(10_000, at(1_000), at(1_020))).toEqual({
      offsets: [8_990, 9_490],
      reach: 10,
      readAt: 1_010,
    });
  });
});

describe('hasJumped', () => {
  /** Both readings took 20 ms: their reaches are 10 ms each. The first was made at 1,000, the second 2,000 ms later. */
  const before = clockReading(11_000, at(990), at(1_010));
  const later = (set: number, monotonic = 2_500) =>
    clockReading(13_000 + set, at(2_990, monotonic - 10), at(3_010, monotonic + 10));

  it.each([0, 140, -140])(
    'is false for a clock that differs by %d ms: the reaches, the drift and 100 ms',
    (by) => {
      expect(hasJumped(before, later(by))).toBe(false);
    },
  );

  it.each([141, -141, 5_000])('is true for a clock that was set by %d ms', (by) => {
    expect(hasJumped(before, later(by))).toBe(true);
  });

  it('is false where one of our clocks was set, and the other still agrees', () => {
    expect(hasJumped(before, later(5_000, 7_500))).toBe(false);
    expect(hasJumped(before, later(0, 7_500))).toBe(false);
  });
});

describe('sharper', () => {
  const reading = (readAt: number, reach: number) => ({ offsets: [0, 0] as const, reach, readAt });

  it('keeps the reading that is more precise now, of which 1 % of its age is taken off', () => {
    const precise = reading(1_000, 10);
    const slow = reading(2_000, 21);
    expect(sharper(precise, slow)).toBe(precise);
    const equal = reading(2_000, 20);
    expect(sharper(precise, equal)).toBe(equal);
  });
});
