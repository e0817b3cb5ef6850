import { systemClock } from '../../../../lib/core/async/clock.js';
import {
  BEAT,
  ROW,
  SLOWEST,
  STRICT_ROW,
  lookTime,
  nextBeat,
} from '../../../../lib/stores/redis/lua/pace.js';

const at = (now: number) => void jest.spyOn(systemClock, 'now').mockReturnValue(now);
const chance = (value: number) => void jest.spyOn(Math, 'random').mockReturnValue(value);

afterEach(() => jest.restoreAllMocks());

describe('The next heartbeat', () => {
  /** In beats from now, at the latest, as chance has it. */
  function beats(inFront?: number, row?: number, random = 0): number {
    at(10 * BEAT + 1);
    chance(random);
    return Math.round(nextBeat(inFront, row) / BEAT) - 10;
  }

  it('is one beat later near the head of the line, and one more for each row in front', () => {
    expect(beats()).toBe(1);
    expect([0, ROW - 1, ROW, 2 * ROW].map((inFront) => beats(inFront))).toEqual([1, 1, 2, 3]);
    expect(beats(STRICT_ROW, STRICT_ROW)).toBe(2);
  });

  it('is never later than the slowest', () => {
    expect(beats(1_000_000)).toBe(SLOWEST);
  });

  it('comes up to a fifth sooner, and never at once', () => {
    expect(beats(9 * ROW, ROW, 0.999)).toBe(8);
    expect(beats(0, ROW, 0.999)).toBe(1);
  });
});

describe('The time at which a waiter looks whether a lock has ended', () => {
  const look = (ttl: number, inFront: number) => {
    at(5_000);
    return lookTime(ttl, inFront);
  };

  it('is shortly after its ttl, and a little later for each waiter in front', () => {
    expect([0, 1, 2].map((inFront) => look(1_000, inFront))).toEqual([6_003, 6_013, 6_023]);
    expect(look(1_000, ROW - 1)).toBe(6_063);
    expect(look(0, 0)).toBe(5_003);
  });

  it('is never, without a ttl or further back', () => {
    expect([look(-1, 0), look(1_000, ROW)]).toEqual([Infinity, Infinity]);
  });
});
