import type { Lease } from 'nest-holdfast/core';
import { systemClock } from '../../../../../lib/core/async/clock.js';
import { StrictQueue } from '../../../../../lib/stores/redis/queue/strict-queue.js';
import { deferred } from '../../../../core/support/outcome.js';
import { aRequest } from '../../locks.js';

describe('An attempt in strict order', () => {
  let isAwaited: boolean;
  let queue: StrictQueue;

  beforeEach(() => {
    isAwaited = false;
    const line = { isAwaited: () => isAwaited };
    queue = new StrictQueue(line as unknown as ConstructorParameters<typeof StrictQueue>[0], () => {
      throw new Error('no call is made');
    });
  });

  const attempt = (ask: () => Promise<Lease | undefined>) =>
    queue.attempt('lock:order:42', aRequest('order:42'), ask);

  it('is refused without a question where a caller of the store waits', async () => {
    isAwaited = true;
    const ask = jest.fn();
    expect(await attempt(ask)).toBeUndefined();
    expect(ask).not.toHaveBeenCalled();
  });

  it('ends after one that asked before, also where a caller of the store waits by then', async () => {
    const answer = deferred<Lease | undefined>();
    const ended: string[] = [];
    const first = attempt(() => answer.promise).then(() => ended.push('first'));
    isAwaited = true; // a place whose heartbeat had no answer has one
    const second = attempt(jest.fn()).then(() => ended.push('second'));
    await new Promise((resolve) => setImmediate(resolve));
    expect(ended).toEqual([]);
    answer.resolve(undefined);
    await Promise.all([first, second]);
    expect(ended).toEqual(['first', 'second']);
  });

  it('asks by itself where the one before it failed', async () => {
    const answer = deferred<Lease | undefined>();
    const failed = attempt(() => answer.promise);
    const lease = {} as Lease;
    const second = attempt(async () => lease);
    answer.reject(new Error('no answer'));
    await expect(failed).rejects.toThrow('no answer');
    expect(await second).toBe(lease);
  });
});

describe('A release in strict order', () => {
  const SENT_AT = 1_000;
  let looked: string[];
  let handedOff: unknown[];
  let abandoned: string[];
  let ttl: number | undefined;
  let isThere: boolean;
  let queue: StrictQueue;

  beforeEach(() => {
    [looked, handedOff, abandoned, ttl, isThere] = [[], [], [], 5_000, true];
    const line = {
      nextTtl: () => ttl,
      look: (lock: string) => looked.push(lock),
      handedOff: (next: string, how: object) => (handedOff.push({ next, ...how }), isThere),
    };
    const calls = { abandon: (next: { value: string }) => abandoned.push(next.value) };
    queue = new StrictQueue(line as never, () => calls as never);
    jest.spyOn(systemClock, 'now').mockReturnValue(SENT_AT);
  });

  afterEach(() => jest.restoreAllMocks());

  function namedLock(name: string, keys: readonly string[] = ['order:42']) {
    return { value: name, request: aRequest([...keys]), keys: keys.map((key) => `lock:${key}`) };
  }

  const read = (reply: unknown) => queue.release(namedLock('held'))!.read(reply);

  it('gives the lock to the next of this store, counted from before it was sent', () => {
    expect(queue.release(namedLock('held'))!.last).toBe(5_000);
    expect(read(['next', '17'])).toBe(true);
    expect(handedOff).toEqual([{ next: 'next', sentAt: SENT_AT, ttl: 5_000, fence: 17n }]);
    expect([abandoned, looked]).toEqual([[], []]);
  });

  it('gives back what no caller waits for any more', () => {
    isThere = false;
    expect(read(['next', 17])).toBe(true);
    expect(abandoned).toEqual(['next']);
  });

  it('frees the lock where none of this store waits', () => {
    ttl = undefined;
    expect(queue.release(namedLock('held'))!.last).toBe(0);
    expect(read(1)).toBe(true);
    expect(looked).toEqual([]);
  });

  it('looks whether one of this store has it, where it found none, or failed', () => {
    expect(read(0)).toBe(false);
    expect(looked).toEqual(['lock:order:42']);
    queue.release(namedLock('held'))!.failed!();
    expect(looked).toHaveLength(2);
  });

  it('is none of several keys', () => {
    expect(queue.release(namedLock('held', ['a', 'b']))).toBeUndefined();
  });

  it('is not understood otherwise', () => {
    for (const reply of [['next'], ['next', 'x'], [1, 2], 'OK', null])
      expect(() => read(reply)).toThrow('not understood');
  });

  it('knows when a caller asked', () => {
    const request = aRequest('order:42');
    expect(queue.arrivalOf(request)).toBe(SENT_AT);
    queue.arrived(request);
    jest.spyOn(systemClock, 'now').mockReturnValue(2 * SENT_AT);
    expect(queue.arrivalOf(request)).toBe(SENT_AT);
    expect(queue.arrivalOf(aRequest('order:42'))).toBe(2 * SENT_AT);
  });
});
