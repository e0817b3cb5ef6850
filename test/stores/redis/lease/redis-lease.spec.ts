import { type AcquireRequest, type Lease, RedisLockStore } from 'nest-holdfast';
import type { RedisLease } from '../../../../lib/stores/redis/lease/redis-lease.js';
import { RedisServer } from '../../../support/servers/redis-server.js';
import { until } from '../../../support/until.js';
import { OwnClient, aRequest, markOf } from '../locks.js';

const TTL = 60_000;
const BLOCK = 64n;
const reader = { permits: Infinity };

describe('A lease of a store on Redis', () => {
  let server: RedisServer;
  let own: OwnClient;
  let store: RedisLockStore;

  beforeAll(async () => {
    server = await RedisServer.shared();
    own = new OwnClient(server.url);
    store = new RedisLockStore(own.redis, { yieldEvery: Infinity });
  });

  beforeEach(() => own.redis.flushall());

  afterAll(async () => {
    await store.close();
    await own[Symbol.asyncDispose]();
    await server.stop();
  });

  const take = async (keys: string | string[] = 'a', options = {}) =>
    (await store.tryAcquire({ ...aRequest(keys), ...options })) as RedisLease;
  const value = () => own.redis.get('lock:a');

  it('is released once', async () => {
    for (const lease of [await take(), await take('b', reader)]) {
      expect(await lease.release()).toBe(true);
      const sent = [jest.spyOn(own.redis, 'eval'), jest.spyOn(own.redis, 'evalsha')];
      expect(await lease.release()).toBe(false);
      for (const each of sent) expect(each).not.toHaveBeenCalled();
      jest.restoreAllMocks();
    }
    expect(await own.redis.exists('lock:a', 'lock:b')).toBe(0);
  });

  it('once released neither becomes a reader nor stops', async () => {
    const lease = await take();
    await lease.release();
    const next = await take();
    expect([await lease.downgrade(), await lease.retire(5_000)]).toEqual([false, false]);
    expect(await next.extend(TTL)).toBe(true);
  });

  it('becomes a reader once, which has no token, is not handed off, and does not stop', async () => {
    const lease = await take();
    expect([await lease.downgrade(), await lease.downgrade()]).toEqual([true, true]);
    expect([lease.fencingToken, lease.ofOneKey]).toEqual([undefined, undefined]);
    expect([lease.handOff(TTL, false), await lease.retire(5_000)]).toEqual([undefined, false]);
    expect(await value()).toBe('*inf');
    expect(await lease.extend(TTL)).toBe(true);
    expect(await own.redis.pttl('lock:a')).toBeGreaterThan(30_000);
    expect([await lease.release(), await value()]).toEqual([true, null]);
    expect(await lease.release()).toBe(false);
  });

  it('is released as a writer where it has not become a reader', async () => {
    const lease = await take();
    jest.spyOn(own.redis, 'evalsha').mockRejectedValueOnce(new Error('down'));
    jest.spyOn(own.redis, 'eval').mockRejectedValueOnce(new Error('down'));
    await expect(lease.downgrade()).rejects.toThrow('down');
    jest.restoreAllMocks();
    expect([await lease.release(), await value()]).toEqual([true, null]);
  });

  it('that stops says its token, for as long as it may, and is released all the same', async () => {
    const lease = await take();
    const before = await value();
    expect([await lease.retire(50_000), await lease.retire(40_000)]).toEqual([true, true]);
    expect(await value()).toBe(before!.replace(':', `!${lease.fencingToken}:`));
    expect(await own.redis.pttl('lock:a')).toBeLessThanOrEqual(40_000);
    expect([await lease.release(), await value()]).toEqual([true, null]);
  });

  it('that has not heard that it stops is released by its value', async () => {
    const lease = await take();
    const before = await value();
    await lease.retire(TTL);
    await own.redis.set('lock:a', before!, 'PX', TTL);
    expect([await lease.release(), await value()]).toEqual([true, null]);
  });

  it('is enough to be extended by its value, but for one of several keys', async () => {
    expect((await take()).ofOneKey!.keys[0]).toBe('lock:a');
    expect((await take(['b', 'c'])).ofOneKey).toBeUndefined();
  });

  it('is handed off with the next token, by blocks from the server', async () => {
    const lease = await take();
    const first = (await lease.handOff(TTL, false)) as RedisLease;
    const second = first.handOff(TTL, false) as Lease; // at once: the server's word counts for a second
    expect(first.fencingToken).toBeGreaterThan(lease.fencingToken!);
    expect(await own.redis.get(markOf('a'))).toBe(String(first.fencingToken! + BLOCK - 1n));
    expect(await own.redis.pttl('lock:a')).toBeGreaterThan(30_000);
    expect(second).toMatchObject({ fencingToken: first.fencingToken! + 1n });
    expect(await first.release()).toBe(false);
    const renewed = (await (second as RedisLease).handOff(TTL, true)) as Lease;
    expect(renewed.fencingToken).toBeGreaterThan(first.fencingToken! + BLOCK - 1n);
    expect(await renewed.release()).toBe(true);
  });

  it('is not handed off for several keys, nor where it is lost', async () => {
    expect((await take(['b', 'c'])).handOff(TTL, false)).toBeUndefined();
    const lease = await take();
    await own.redis.set('lock:a', 'theirs');
    expect(await lease.handOff(TTL, false)).toBeUndefined();
    expect(await value()).toBe('theirs');
  });

  it('is handed off with tokens from elsewhere, and given back where the counter is beyond them', async () => {
    const lease = await take();
    const from = lease.fencingToken! + 1_000n;
    const next = (await lease.handOffRaising(TTL, true, { from, to: from + 5n })) as RedisLease;
    expect(next.fencingToken).toBe(from);
    expect(await own.redis.get(markOf('a'))).toBe(String(from + 5n));
    expect(await next.raiseFencing({ from: from + 5n, to: from + 9n })).toBe(true);
    expect(await next.raiseFencing({ from, to: from + 20n })).toBe(false);
    expect(await own.redis.get(markOf('a'))).toBe(String(from + 9n));
    expect(await next.handOffRaising(TTL, true, { from, to: from + 5n })).toBeUndefined();
    await until(async () => (await value()) === null);
  });

  /** A claim, and the same after its first extension; once more where the machine was too slow for the claim. */
  async function waitFor(request: AcquireRequest, see = async (_claim: RedisLease) => {}) {
    for (;;) {
      const lease = await store.acquire!(request, new AbortController().signal);
      await see(lease as RedisLease);
      if (await lease.extend(TTL)) return lease as RedisLease;
    }
  }

  it('is no claim, unless its store has waited for it', async () => {
    const lease = await take();
    expect(lease.claim).toBeUndefined();
    const waiting = waitFor(aRequest('a'), async (claim) => {
      expect([claim.ofOneKey, claim.fencingToken]).toEqual([undefined, 0n]);
      expect(await claim.retire(TTL)).toBe(false);
    });
    await lease.release();
    const claimed = await waiting;
    expect(claimed.fencingToken).toBeGreaterThan(lease.fencingToken!);
    expect(claimed.ofOneKey).toBeDefined();
    expect(await claimed.release()).toBe(true);
  });

  it('of a sharer that has waited becomes one of the lock by its first extension', async () => {
    const lease = await take();
    const waiting = waitFor({ ...aRequest('a'), ...reader });
    await lease.release();
    const claimed = await waiting;
    const sent = [jest.spyOn(own.redis, 'eval'), jest.spyOn(own.redis, 'evalsha')];
    expect(await claimed.extend(2 * TTL)).toBe(true);
    const keys = sent.flatMap(({ mock }) => mock.calls.map(([, count]) => count));
    expect(keys).toEqual([2]); // the lock and its sharers: no waiter is admitted
    jest.restoreAllMocks();
    expect(await own.redis.pttl('lock:a')).toBeGreaterThan(TTL);
    const beside = await take('a', reader);
    expect([await claimed.release(), await beside.release()]).toEqual([true, true]);
  });
});
