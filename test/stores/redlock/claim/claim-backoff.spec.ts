import { FakeClock } from 'nest-holdfast/testing';
import { ClaimBackoff } from '../../../../lib/stores/redlock/claim/claim-backoff';
import { aRequest } from '../../redis/locks';

/** Milliseconds: a waiter that has failed three times over this long is rejected. */
const LONGEST_FAILURE = 2_000;

describe('The failed claims of a waiter', () => {
  const own = () => {
    const clock = new FakeClock(50_000);
    return { clock, backoff: new ClaimBackoff(clock), asked: aRequest('a') };
  };

  beforeEach(() => void jest.spyOn(Math, 'random').mockReturnValue(1));
  afterEach(() => jest.restoreAllMocks());

  it.each(['lost', 'failed'] as const)(
    'that %s make it pause longer and longer, up to four times',
    (kind) => {
      const { backoff, asked } = own();
      const pauses = Array.from({ length: 6 }, () => {
        backoff[kind](asked);
        return backoff.pauseOf(asked);
      });
      expect(pauses).toEqual([50, 100, 150, 200, 200, 200]);
    },
  );

  it('count together, and are no concern of another waiter', () => {
    const { backoff, asked } = own();
    backoff.lost(asked);
    backoff.failed(asked);
    backoff.lost(asked);
    expect(backoff.pauseOf(asked)).toBe(150);
    expect(backoff.pauseOf(aRequest('a'))).toBe(0);
  });

  it('do not reject it before there were three, however long that takes', () => {
    const { backoff, asked, clock } = own();
    expect(backoff.failed(asked)).toBe(true);
    clock.jump(10 * LONGEST_FAILURE);
    expect(backoff.failed(asked)).toBe(true);
    expect(backoff.failed(asked)).toBe(false);
  });

  it('do not reject it before they have lasted two seconds, however many there were', () => {
    const { backoff, asked, clock } = own();
    for (let time = 0; time < 5; time++) expect(backoff.failed(asked)).toBe(true);
    clock.jump(LONGEST_FAILURE - 1);
    expect(backoff.failed(asked)).toBe(true);
    clock.jump(1);
    expect(backoff.failed(asked)).toBe(false);
  });

  it('begin anew once the nodes have answered that another caller was first', () => {
    const { backoff, asked, clock } = own();
    for (let time = 0; time < 3; time++) backoff.failed(asked);
    clock.jump(LONGEST_FAILURE);
    backoff.lost(asked);
    clock.jump(LONGEST_FAILURE);
    for (let time = 0; time < 3; time++) expect(backoff.failed(asked)).toBe(true);
    clock.jump(LONGEST_FAILURE);
    expect(backoff.failed(asked)).toBe(false);
  });
});
