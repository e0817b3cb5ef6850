import type { RedisClient } from '../../../../lib/redis-client/redis-client.js';
import { TakeBacks, takeBacksOf } from '../../../../lib/stores/redis/send/take-backs.js';
import type { NamedLock } from '../../../../lib/stores/redis/keys/named-lock.js';
import { aRequest } from '../locks.js';

const TTL = 30_000;

function held(key = 'order:42', value = 'a.1'): NamedLock {
  return { keys: [`lock:${key}`], value, request: aRequest(key, TTL) };
}

describe('The take-backs of a store', () => {
  beforeEach(() => jest.useFakeTimers());
  afterEach(() => jest.useRealTimers());

  const down = () => jest.fn(() => Promise.reject(new Error('down')));
  /** Answers in their order, then that there was no lock. `undefined`: no answer. */
  function answering(...answers: readonly (boolean | undefined)[]) {
    const left = [...answers];
    return jest.fn(async () => {
      const answer = left.length > 0 ? left.shift() : false;
      if (answer === undefined) throw new Error('down');
      return answer;
    });
  }

  /** Seconds at which it was called. */
  async function timesOf(free: jest.Mock, until: number): Promise<number[]> {
    const times: number[] = [];
    for (let ms = 0; ms <= until; ms += 250) {
      if (ms > 0) await jest.advanceTimersByTimeAsync(250);
      while (times.length < free.mock.calls.length) times.push(ms / 1_000);
    }
    return times;
  }

  it('are repeated while the server does not answer, after pauses that grow to four seconds', async () => {
    const free = down();
    new TakeBacks(false, () => true).add(held(), free);
    expect(await timesOf(free, 20_000)).toEqual([0, 0.5, 1.5, 3.5, 7.5, 11.5, 15.5, 19.5]);
  });

  it.each([
    ['freed the lock', [true], 1],
    ['found no lock, twice', [], 2],
    ['found no lock, twice in a row', [false, undefined, false], 4],
    ['freed the lock at last', [false, undefined, true], 3],
  ])('end when they have %s', async (_, answers, calls) => {
    const free = answering(...answers);
    const takeBacks = new TakeBacks(false, () => true);
    takeBacks.add(held(), free);
    await jest.advanceTimersByTimeAsync(TTL);
    expect(free).toHaveBeenCalledTimes(calls);
    expect(takeBacks.kept.size).toBe(0);
    expect(jest.getTimerCount()).toBe(0);
  });

  it('are repeated on a Cluster until the ttl is over, or the lock is freed', async () => {
    const takeBacks = new TakeBacks(true, () => true);
    const [none, one] = [answering(), answering(false, true)];
    takeBacks.add(held('a'), none);
    takeBacks.add(held('b'), one);
    await jest.advanceTimersByTimeAsync(2 * TTL);
    expect(none).toHaveBeenCalledTimes(11); // at 0, 0.5, 1.5, 3.5 and then every 4 seconds
    expect(one).toHaveBeenCalledTimes(2);
    expect(takeBacks.kept.size).toBe(0);
    expect(jest.getTimerCount()).toBe(0);
  });

  it('wait while no command can be sent', async () => {
    let canSend = false;
    const free = answering(undefined);
    const takeBacks = new TakeBacks(false, () => canSend);
    takeBacks.add(held(), free);
    await jest.advanceTimersByTimeAsync(TTL);
    expect(free).toHaveBeenCalledTimes(1);
    canSend = true;
    await jest.advanceTimersByTimeAsync(TTL);
    expect(free).toHaveBeenCalledTimes(3);
  });

  it('make no second request while one is under way', async () => {
    const free = jest.fn(() => new Promise<boolean>(() => {}));
    const takeBacks = new TakeBacks(false, () => true);
    takeBacks.add(held(), free);
    takeBacks.add(held('b'), answering());
    await jest.advanceTimersByTimeAsync(TTL);
    expect(free).toHaveBeenCalledTimes(1);
    expect(takeBacks.kept.size).toBe(1);
    expect(jest.getTimerCount()).toBe(0);
  });

  it('are forgotten where the same lock is asked for again, and no other one', async () => {
    const takeBacks = new TakeBacks(false, () => true);
    const [own, other] = [down(), down()];
    takeBacks.add(held(), own);
    takeBacks.add(held('order:42', 'a.2'), other);
    takeBacks.forget(held());
    await jest.advanceTimersByTimeAsync(5_000);
    expect(own).toHaveBeenCalledTimes(1);
    expect(other.mock.calls.length).toBeGreaterThan(2);
  });

  it('are made by the last request for the same lock alone', async () => {
    const takeBacks = new TakeBacks(false, () => true);
    const [first, second] = [down(), down()];
    takeBacks.add(held(), first);
    takeBacks.add(held(), second);
    await jest.advanceTimersByTimeAsync(5_000);
    expect(first).toHaveBeenCalledTimes(1);
    expect(second.mock.calls.length).toBeGreaterThan(2);
  });

  it('are kept for the last ten thousand locks', () => {
    const takeBacks = new TakeBacks(false, () => true);
    const free = jest.fn(() => new Promise<boolean>(() => {}));
    for (let index = 0; index <= 10_000; index++) takeBacks.add(held(String(index)), free);
    expect(free).toHaveBeenCalledTimes(10_001);
    expect(takeBacks.kept.size).toBe(10_000);
    expect([...takeBacks.kept.keys()][0]).toBe('lock:1 a.1');
  });

  it('end with the store, and are made once after that', async () => {
    const takeBacks = new TakeBacks(false, () => true);
    const [before, after] = [down(), down()];
    takeBacks.add(held(), before);
    await jest.advanceTimersByTimeAsync(0);
    takeBacks.close();
    expect(jest.getTimerCount()).toBe(0);
    takeBacks.add(held(), after);
    await jest.advanceTimersByTimeAsync(5_000);
    expect(before).toHaveBeenCalledTimes(1);
    expect(after).toHaveBeenCalledTimes(1);
    expect(jest.getTimerCount()).toBe(0);
  });

  it.each([
    [undefined, 2],
    ['wait', 2],
    ['ready', 2],
    ['reconnecting', 1],
    ['end', 1],
  ])('of a client with the status %s are made %s times', async (status, times) => {
    const free = answering();
    takeBacksOf({ status } as RedisClient).add(held(), free);
    await jest.advanceTimersByTimeAsync(TTL);
    expect(free).toHaveBeenCalledTimes(times);
  });

  it('of a client of a Cluster are made until the ttl is over', async () => {
    const free = answering();
    takeBacksOf({ isCluster: true } as RedisClient).add(held(), free);
    await jest.advanceTimersByTimeAsync(2 * TTL);
    expect(free.mock.calls.length).toBeGreaterThan(2);
  });
});
