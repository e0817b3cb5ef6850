import { HAND_ON, LEAVE_FREE } from '../../../../../lib/stores/redis/lua/lease-scripts.js';
import { FreeMoments } from '../../../../../lib/stores/redis/queue/free-moments.js';
import type { ScriptRunner } from '../../../../../lib/stores/redis/send/script-runner.js';
import type { RedisScript } from '../../../../../lib/redis-client/redis-script.js';
import { rejectionOf } from '../../../../core/support/outcome.js';
import { aRequest } from '../../locks.js';

const EVERY = 2_000;
/** A hundredth of it. */
const LENGTH = 20;
const HELD = { request: aRequest('a'), keys: ['lock:a', 'counter', 'line:a'], value: 's.1' };

describe('The moment for which a lock is left free', () => {
  let sent: string[];
  let replies: unknown[];
  let moments: FreeMoments;

  beforeEach(() => {
    jest.useFakeTimers({ doNotFake: ['nextTick', 'setImmediate'] });
    [sent, replies] = [[], []];
    const names = new Map([[LEAVE_FREE, 'leave free'], [HAND_ON, 'hand on']]); // prettier-ignore
    const run = async (
      script: RedisScript,
      keys: string[],
      args: string[],
      read: (reply: unknown) => unknown,
    ) => {
      sent.push([names.get(script), ...keys, ...args].join(' '));
      const reply = replies.shift();
      if (reply instanceof Error) throw reply;
      return read(reply);
    };
    moments = new FreeMoments({ run } as unknown as ScriptRunner, EVERY);
  });

  afterEach(() => jest.useRealTimers());

  const release = (reply: unknown, hasNext = false, held = HELD) => {
    replies.push(reply);
    return moments.release(held, hasNext);
  };
  /** Resolves `true` when it is over. */
  function isOver(signal = new AbortController().signal): () => Promise<boolean> {
    let isIt = false;
    void moments.over('lock:a', signal).then(() => (isIt = true));
    return async () => {
      await new Promise((resolve) => setImmediate(resolve));
      return isIt;
    };
  }

  it('ends at once where no caller waits', async () => {
    expect(await release(0)).toBe(true);
    expect(sent).toEqual(['leave free lock:a line:a s.1']);
    expect([moments.areAny, moments.refuse(['lock:a'])]).toEqual([false, false]);
    expect(await isOver()()).toBe(true);
  });

  it('is a hundredth of the time, where a caller waits in line, which has the lock then', async () => {
    expect(await release(1)).toBe(true);
    expect(moments.areAny).toBe(true);
    expect([['lock:a'], ['lock:b'], ['lock:b', 'lock:a']].map((locks) => moments.refuse(locks))).toEqual([true, false, true]); // prettier-ignore
    const over = isOver();
    await jest.advanceTimersByTimeAsync(LENGTH - 1);
    expect([await over(), moments.areAny]).toEqual([false, true]);
    await jest.advanceTimersByTimeAsync(1);
    expect([await over(), moments.areAny]).toEqual([true, false]);
    expect(sent).toEqual(['leave free lock:a line:a s.1', 'hand on lock:a line:a']);
  });

  it('is as long where a caller of this process is next, and refuses none', async () => {
    await release(0, true);
    expect([moments.areAny, moments.refuse(['lock:a'])]).toEqual([true, false]);
    const over = isOver();
    expect(await over()).toBe(false);
    await jest.advanceTimersByTimeAsync(LENGTH);
    expect([await over(), sent.length]).toEqual([true, 1]);
  });

  it('is none for a lock that had been lost, or whose release failed', async () => {
    expect(await release(null)).toBe(false);
    expect(moments.areAny).toBe(false);
    expect(await rejectionOf(release(new Error('down')))).toMatchObject({ message: 'down' });
    expect(await rejectionOf(release(17))).toMatchObject({ message: expect.stringContaining('not understood') }); // prettier-ignore
    expect(moments.areAny).toBe(false);
  });

  it('is not waited for by a caller whose wait is over', async () => {
    await release(1);
    expect(await isOver(AbortSignal.abort())()).toBe(true);
    const stopper = new AbortController();
    const over = isOver(stopper.signal);
    expect(await over()).toBe(false);
    stopper.abort();
    expect(await over()).toBe(true);
  });

  it('ends with the store, and once', async () => {
    await release(1);
    await release(1, false, { ...HELD, keys: ['lock:b', 'counter', 'line:b'] });
    const over = isOver();
    moments.close();
    expect(await over()).toBe(true);
    expect(sent.slice(2)).toEqual(['hand on lock:a line:a', 'hand on lock:b line:b']);
    await jest.advanceTimersByTimeAsync(LENGTH);
    expect([moments.areAny, sent.length]).toEqual([false, 4]);
  });

  it('that follows another one of the lock does not end with it', async () => {
    await release(1);
    await jest.advanceTimersByTimeAsync(LENGTH / 2);
    await release(1);
    await jest.advanceTimersByTimeAsync(LENGTH / 2);
    expect([moments.areAny, moments.refuse(['lock:a'])]).toEqual([true, true]);
    await jest.advanceTimersByTimeAsync(LENGTH / 2);
    expect(moments.areAny).toBe(false);
  });

  it('ends also where the server does not answer', async () => {
    await release(1);
    replies.push(new Error('down'));
    const over = isOver();
    await jest.advanceTimersByTimeAsync(LENGTH);
    expect(await over()).toBe(true);
  });
});
