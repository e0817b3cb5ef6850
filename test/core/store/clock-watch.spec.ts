import { ClockWatch, whySet } from '../../../lib/core/store/clock-watch.js';
import type { ServerClock } from '../../../lib/core/store/clock-watch.js';
import { deferred } from '../support/outcome';

/** A server whose clock is `ahead` of ours, and counts how often it was asked. */
function server(name: string, others: Partial<ServerClock> = {}) {
  const own = { name, ahead: 5_000, asked: 0, time, ...others };
  async function time(): Promise<number> {
    own.asked++;
    return Date.now() + own.ahead;
  }
  return own;
}

function watching(...servers: readonly ServerClock[]) {
  const told: [name: string, by: number][] = [];
  const watch = new ClockWatch(
    () => servers,
    (name, by) => void told.push([name, by]),
  );
  return { watch, told };
}

const pass = (ms: number) => jest.advanceTimersByTimeAsync(ms);

describe('ClockWatch', () => {
  beforeEach(() => jest.useFakeTimers());
  afterEach(() => jest.useRealTimers());

  it('asks each server once a second, from the first second until the last lock may have ended', async () => {
    const [one, other] = [server('one'), server('other')];
    const { watch } = watching(one, other);
    await pass(5_000);
    expect(one.asked).toBe(0);
    watch.holds(3_500);
    await pass(999);
    expect(one.asked).toBe(0);
    await pass(1);
    expect([one.asked, other.asked]).toEqual([1, 1]);
    await pass(3_000);
    expect([one.asked, other.asked]).toEqual([4, 4]);
    await pass(60_000);
    expect([one.asked, other.asked]).toEqual([4, 4]);
    expect(jest.getTimerCount()).toBe(0);
  });

  it('asks for longer where another lock is taken meanwhile, and for the longest of several', async () => {
    const one = server('one');
    const { watch } = watching(one);
    watch.holds(1_500);
    watch.holds(500);
    await pass(1_500);
    watch.holds(2_500);
    await pass(60_000);
    expect(one.asked).toBe(4);
  });

  it.each([
    [150, 150],
    [-150, -150],
    [3_600_000, 3_600_000],
  ])('tells of a clock that was set by %i ms, once', async (by, expected) => {
    const one = server('one');
    const { watch, told } = watching(one, server('other'));
    watch.holds(60_000);
    await pass(1_000);
    one.ahead += by;
    await pass(1_000);
    expect(told).toEqual([['one', expected]]);
    await pass(5_000);
    expect(told).toHaveLength(1);
    one.ahead += by;
    await pass(1_000);
    expect(told).toHaveLength(2);
  });

  it.each([100, -100])('tells of none that differs by %i ms', async (by) => {
    const one = server('one');
    const { watch, told } = watching(one);
    watch.holds(60_000);
    await pass(1_000);
    one.ahead += by;
    await pass(1_000);
    expect(told).toEqual([]);
  });

  it('does not compare across a pause without locks', async () => {
    const one = server('one');
    const { watch, told } = watching(one);
    watch.holds(1_500);
    await pass(10_000);
    one.ahead += 3_000;
    watch.holds(1_500);
    await pass(10_000);
    expect(one.asked).toBeGreaterThan(1);
    expect(told).toEqual([]);
  });

  it('does not ask a server that is not ready, nor one that has not answered yet', async () => {
    const away = server('away', { isReady: false });
    const answer = deferred<number>();
    let asked = 0;
    const hung = server('hung', { time: () => (asked++, answer.promise) });
    const { watch } = watching(away, hung);
    watch.holds(60_000);
    await pass(3_000);
    expect([away.asked, asked]).toEqual([0, 1]);
    answer.resolve(Date.now());
    await pass(1_000);
    expect(asked).toBe(2);
  });

  it('asks a server that failed once more, and one that forbids it never again', async () => {
    let failing = 0;
    let forbidding = 0;
    const failed = server('failed', {
      time: () => (failing++, Promise.reject(new Error('down'))),
      isForbidden: () => false,
    });
    const forbidden = server('forbidden', {
      time: () => (forbidding++, Promise.reject(new Error('NOPERM'))),
      isForbidden: (error) => (error as Error).message === 'NOPERM',
    });
    const plain = server('plain', { time: () => (asked++, Promise.reject(new Error('down'))) });
    let asked = 0;
    const { watch, told } = watching(failed, forbidden, plain);
    watch.holds(60_000);
    await pass(3_000);
    expect([failing, forbidding, asked]).toEqual([3, 1, 3]);
    expect(told).toEqual([]);
    watch.close();
  });

  it('may be closed before any lock was held', () => {
    const { watch } = watching(server('one'));
    expect(() => watch.close()).not.toThrow();
  });

  it('ends with close, and forgets what it has read', async () => {
    const one = server('one');
    const { watch, told } = watching(one);
    watch.holds(60_000);
    await pass(1_000);
    watch.close();
    await pass(5_000);
    expect(one.asked).toBe(1);
    expect(jest.getTimerCount()).toBe(0);
    one.ahead += 3_000;
    watch.holds(60_000);
    await pass(1_000);
    expect(one.asked).toBe(2);
    expect(told).toEqual([]);
  });

  it.each([
    [150, 'forward by 150'],
    [-150, 'back by 150'],
  ])('says that a clock was set by %i ms', (by, words) => {
    expect(whySet('db-1', by)).toBe(`the clock of db-1 was set ${words} ms`);
  });
});
