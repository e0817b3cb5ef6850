import { systemClock } from '../../../../../lib/core/async/clock.js';
import { LocalHandoff } from '../../../../../lib/stores/redis/queue/local-handoff.js';
import { Shares } from '../../../../../lib/stores/redis/queue/shares.js';

const at = (now: number) => void jest.spyOn(systemClock, 'now').mockReturnValue(now);

afterEach(() => jest.restoreAllMocks());

describe('The time for which a process has had a lock', () => {
  it('adds up, until the lock was left free', () => {
    const shares = new Shares(1_000);
    at(400);
    expect(shares.end('a', shares.dueAt('a', 0))).toBe(false);
    at(1_100);
    expect(shares.end('a', shares.dueAt('a', 500))).toBe(true);
    expect(shares.dueAt('a', 1_200)).toBe(2_200);
  });

  it('begins anew where the lock was not held for as long', () => {
    const shares = new Shares(1_000);
    at(400);
    shares.end('a', shares.dueAt('a', 0));
    expect(shares.dueAt('a', 1_399)).toBe(1_999);
    expect(shares.dueAt('a', 1_400)).toBe(2_400);
    expect(shares.dueAt('b', 500)).toBe(1_500);
  });

  it('counts no more once no lock is to be left free', () => {
    const shares = new Shares(1_000);
    shares.stop();
    at(10_000);
    expect(shares.dueAt('a', 0)).toBe(Infinity);
    expect(shares.end('a', Infinity)).toBe(false);
  });

  it('is over exactly when it is due', () => {
    const shares = new Shares(1_000);
    at(999);
    expect(shares.end('a', 1_000)).toBe(false);
    at(1_000);
    expect(shares.end('b', 1_000)).toBe(true);
  });

  it('is kept of a thousand locks and more, while it counts', () => {
    const shares = new Shares(1_000);
    at(100);
    for (let index = 0; index < 1_500; index++) shares.end(`old:${index}`, 1_000);
    at(600);
    for (let index = 0; index < 1_500; index++) shares.end(`new:${index}`, 1_500);
    expect(shares.dueAt('old:0', 700)).toBe(1_600);
    at(1_200);
    for (let index = 0; index < 3_000; index++) shares.end(`last:${index}`, 2_000);
    expect(shares.dueAt('new:0', 1_300)).toBe(2_200);
    expect(shares.dueAt('last:2999', 1_300)).toBe(2_100);
  });
});

describe('What holders of one process know of their lock', () => {
  const tokens = (handoff: LocalHandoff, now: number) => {
    let count = 0;
    while (count < 10 && handoff.takeToken(now)) count++;
    return count;
  };

  it('are the tokens that the server has reserved, for a second', () => {
    const handoff = new LocalHandoff(Infinity);
    expect(tokens(handoff, 0)).toBe(0);
    at(5_000);
    handoff.confirm(3, false);
    expect(tokens(handoff, 6_000)).toBe(3);
    handoff.confirm(3, false);
    expect(tokens(handoff, 6_001)).toBe(0);
    expect(tokens(handoff, 5_000)).toBe(0);
  });

  it('is that another process waits, from then on', () => {
    const handoff = new LocalHandoff(Infinity);
    at(0);
    handoff.confirm(3, false);
    for (let count = 0; count < 5; count++) expect(handoff.mayHandOff(2)).toBe(true);
    handoff.confirm(3, true);
    handoff.confirm(3, false);
    expect([1, 2, 3].map(() => handoff.mayHandOff(2))).toEqual([true, true, false]);
  });

  it.each([
    ['another process says so', (handoff: LocalHandoff) => handoff.contend(), 3],
    ['messages were missed', (handoff: LocalHandoff) => handoff.doubt(), 0],
  ])('is that another process may wait, where %s', (_, happens, left) => {
    const handoff = new LocalHandoff(Infinity);
    at(0);
    handoff.confirm(3, false);
    happens(handoff);
    expect(handoff.mayHandOff(0)).toBe(false);
    expect(tokens(handoff, 0)).toBe(left);
  });
});
