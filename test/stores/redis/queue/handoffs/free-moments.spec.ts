import type { Lock } from 'nest-holdfast';
import { systemClock } from '../../../../../lib/core/async/clock.js';
import { BEAT } from '../../../../../lib/stores/redis/lua/pace.js';
import { rejectionOf } from '../../../../core/support/outcome.js';
import { nothingLeft } from '../../../../support/faults/left-behind.js';
import { RedisServer } from '../../../../support/servers/redis-server.js';
import { until } from '../../../../support/until.js';
import { AppInstance, inLine, standing } from '../../../support/app-instance.js';
import { aRequest } from '../../locks.js';

/** Milliseconds: a lock that was held for so long is left free for a hundredth of it, which is longer than any test. */
const LONG = 10_000_000;

describe('A lock that is left free for a moment', () => {
  let server: RedisServer;
  let holding: AppInstance;
  let first: AppInstance;
  let second: AppInstance;

  beforeEach(async () => {
    server = await RedisServer.shared();
    holding = process(LONG);
    first = process(LONG);
    second = process(LONG);
  });

  afterEach(async () => {
    jest.restoreAllMocks();
    for (const each of [holding, first, second]) await each[Symbol.asyncDispose]();
    await nothingLeft(server);
    await server.stop();
  });

  function process(yieldEvery: number): AppInstance {
    return new AppInstance(server.url, { yieldEvery, ttl: 3 * LONG, waitTimeout: Infinity });
  }

  /** A lock that has gone from holder to holder for as long as a process may have it. */
  async function heldForLong(own = holding): Promise<Lock> {
    const one = await own.locks.acquire('order:42');
    const next = own.locks.acquire('order:42');
    await one.release();
    const lock = await next;
    const now = systemClock.now.bind(systemClock);
    jest.spyOn(systemClock, 'now').mockImplementation(() => now() + LONG);
    return lock;
  }

  /** All heartbeats of this process come when the number of whole `BEAT`s grows. */
  const beatNow = () => Math.floor(systemClock.now() / BEAT);

  /** Resolves with the number of a beat that has just begun: no waiter that comes now sends a heartbeat before the next one. */
  async function beatBegins(): Promise<number> {
    const last = beatNow();
    await until(() => beatNow() !== last);
    return beatNow();
  }

  /** The first in line takes it with its heartbeat. */
  async function expectFree(beat: number, before: readonly { value: string }[] = []) {
    const seen = [await isFree(), await inLine(server, 'order:42')] as const;
    if (beatNow() !== beat) return;
    expect(seen[0]).toBe(true);
    if (before.length > 0) expect(seen[1].map(({ value }) => value)).toEqual(before.map(({ value }) => value)); // prettier-ignore
  }

  const isFree = async () => (await server.command('EXISTS', 'lock:order:42')) === 0;

  it('is for any caller, and the waiters have it after that in their order', async () => {
    const lock = await heldForLong();
    const beat = await beatBegins();
    const waiting = [first.locks.acquire('order:42')];
    await standing(server, 'order:42', 1);
    waiting.push(second.locks.acquire('order:42'));
    await standing(server, 'order:42', 2);
    const before = await inLine(server, 'order:42');
    expect(await lock.release()).toBe(true);
    await expectFree(beat, before);
    const asked = jest.spyOn(holding.redis, 'evalsha');
    expect(await holding.locks.tryAcquire('order:42')).toBeUndefined();
    expect(await holding.locks.tryAcquire(['order:41', 'order:42'])).toBeUndefined();
    expect(await holding.locks.tryAcquire('order:42', { mode: 'read' })).toBeUndefined();
    expect(asked).not.toHaveBeenCalled();
    await holding.locks.close(); // which ends the moment
    for (const next of waiting) await (await next).release();
  });

  it('goes to the first in line when the process that left it free dies', async () => {
    const lock = await heldForLong();
    const next = first.locks.acquire('order:42');
    await standing(server, 'order:42', 1);
    await lock.release();
    holding.redis.disconnect();
    await (await next).release();
  });

  it('is not waited for by those whose wait has ended', async () => {
    const lock = await heldForLong();
    const over = new AbortController();
    const next = rejectionOf(holding.locks.acquire('order:42', { signal: over.signal }));
    const other = first.locks.acquire('order:42');
    await standing(server, 'order:42', 1);
    expect(await lock.release()).toBe(true);
    over.abort(new Error('no more'));
    expect(await next).toMatchObject({ message: 'no more' });
    await holding.locks.close();
    await (await other).release();
  });

  it('delays no caller whose wait has ended before it asks', async () => {
    const lock = await heldForLong();
    const beat = await beatBegins();
    const next = first.locks.acquire('order:42');
    await standing(server, 'order:42', 1);
    expect(await lock.release()).toBe(true);
    const ended = AbortSignal.abort(new Error('no more'));
    await expect(holding.store.acquire!(aRequest('order:42'), ended)).rejects.toThrow('no more');
    await expectFree(beat); // the moment is not over
    await holding.locks.close();
    await (await next).release();
  });

  it('stays with a program that has taken it meanwhile', async () => {
    const lock = await heldForLong();
    const beat = await beatBegins();
    const next = first.locks.acquire('order:42');
    await standing(server, 'order:42', 1);
    await lock.release();
    const taken = await server.command('SET', 'lock:order:42', 'theirs', 'NX');
    if (taken === 'OK') {
      await holding.locks.close();
      expect(await server.command('GET', 'lock:order:42')).toBe('theirs');
      await server.command('DEL', 'lock:order:42');
    } else {
      expect(beatNow()).not.toBe(beat); // the first in line came before
    }
    await (await next).release();
  });

  it('is one that others wait for: else who wants it has it at once', async () => {
    const lock = await heldForLong();
    expect(await lock.release()).toBe(true);
    const again = await holding.locks.acquire('order:42', { waitTimeout: 0 });
    await again.release();
    const waiting = await holding.store.acquire!(
      aRequest('order:42'),
      new AbortController().signal,
    );
    await waiting.release();
  });

  it('is none where `yieldEvery` is Infinity', async () => {
    await using own = process(Infinity);
    const lock = await heldForLong(own);
    const next = first.locks.acquire('order:42');
    await standing(server, 'order:42', 1);
    await lock.release();
    expect(await isFree()).toBe(false);
    await (await next).release();
  });

  it('is none before it is due', async () => {
    const lock = await heldForLong();
    jest.restoreAllMocks();
    const next = first.locks.acquire('order:42');
    await standing(server, 'order:42', 1);
    await lock.release();
    expect(await isFree()).toBe(false);
    await (await next).release();
  });

  it('loses what it was to be told, and the first in line has it all the same', async () => {
    const lock = await heldForLong();
    const next = first.locks.acquire('order:42');
    await standing(server, 'order:42', 1);
    jest.spyOn(holding.redis, 'eval').mockRejectedValueOnce(new Error('no answer'));
    expect(await lock.release()).toBe(false);
    await (await next).release();
  });
});

describe('yieldEvery', () => {
  it.each([0, -1, 0.5, NaN, '8', null])('refuses %p', (yieldEvery) => {
    const make = () =>
      new AppInstance('redis://127.0.0.1:1', {
        yieldEvery: yieldEvery as number,
        client: { lazyConnect: true },
      });
    expect(make).toThrow(typeof yieldEvery === 'number' ? RangeError : TypeError);
    expect(make).toThrow(/yieldEvery/);
  });
});
