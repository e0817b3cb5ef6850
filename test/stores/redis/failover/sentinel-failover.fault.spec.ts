import { Redis } from 'ioredis';
import { Redis as Redis5 } from 'ioredis5';
import { LockService, RedisLockStore, type RedisLockStoreOptions } from 'nest-holdfast';
import { disconnect } from '../locks.js';
import { RedisSentinel } from '../../../support/servers/redis-sentinel.js';
import type { RedisServer } from '../../../support/servers/redis-server.js';
import { until } from '../../../support/until.js';
import { aborted, inTime } from '../../../support/faults/in-time.js';
import { lineLength } from '../../../support/redis-line.js';

/** Longer than a failover takes. */
const TTL = 20_000;

describe.each([
  ['6', Redis],
  ['5', Redis5 as unknown as typeof Redis],
])('A failover of Sentinel, with ioredis %s,', (_, Client) => {
  let sentinel: RedisSentinel;
  let crashed: RedisServer[] = [];
  let closing: (() => Promise<void>)[] = [];

  beforeAll(async () => {
    sentinel = await RedisSentinel.start();
  });

  afterEach(async () => {
    for (const close of closing.splice(0)) await close();
    sentinel.hear();
    await sentinel.rejoin(...crashed.splice(0));
    await sentinel.master.command('FLUSHALL');
  });

  afterAll(() => sentinel.stop());

  /** One process of an application. */
  function start(options: RedisLockStoreOptions = {}, defaults = {}) {
    const redis = new Client({ ...sentinel.client, retryStrategy: () => 50 });
    redis.on('error', () => {}); // the commands say what matters here
    const store = new RedisLockStore(redis, { replicaTimeout: 500, ...options });
    const locks = new LockService(store, { ttl: TTL, waitTimeout: 60_000, ...defaults });
    closing.push(async () => {
      await locks.close();
      disconnect(redis);
    });
    return { redis, locks, events: eventsOf(locks) };
  }

  async function crash(): Promise<void> {
    crashed = [sentinel.master];
    await sentinel.crash();
  }

  it('puts a held lock in jeopardy and finds it again, where a replica had it', async () => {
    const [holding, other] = [start({ replicas: 1 }), start({ replicas: 1 })];
    const lock = await holding.locks.acquire('order:42');
    await crash();
    await until(() => holding.events.includes('recovered'), { within: 30_000 });
    expect(holding.events[0]).toMatch(/^jeopardy: .*run_id/);
    expect(holding.events.at(-1)).toBe('recovered');
    expect(lock.state).toBe('held');
    await until(() => other.redis.status === 'ready'); // one attempt waits for no connection
    expect(await other.locks.tryAcquire('order:42')).toBeUndefined();
    expect(await lock.release()).toBe(true);
    const next = await other.locks.acquire('order:42');
    expect(next.fencingToken).toBeGreaterThan(lock.fencingToken);
  });

  it('ends a held lock at once that the promoted replica never heard of', async () => {
    const { locks, events } = start();
    const { locks: others } = start();
    await locks.withLock('warm-up', () => others.tryAcquire('warm-up'));
    await sentinel.deafen();
    const lock = await locks.acquire('order:42');
    crashed = [sentinel.master];
    await sentinel.master.kill();
    sentinel.hear();
    await inTime(15_000, aborted(lock.signal)); // the ttl is longer
    expect(lock.signal.reason).toMatchObject({ code: 'LOCK_LOST', reason: 'gone' });
    expect(events.at(-1)).toBe('lost: gone');
    expect((await others.acquire('order:42')).isHeld).toBe(true);
    await sentinel.promoted();
  });

  it('finds a lock that no replica acknowledged not granted, and its key free', async () => {
    const { locks } = start({ replicas: 1, replicaTimeout: 100 });
    await locks.withLock('warm-up', () => undefined);
    await sentinel.deafen();
    await expect(locks.acquire('order:42')).rejects.toMatchObject({
      code: 'LOCK_STORE_FAILED',
      message: expect.stringContaining('0 of 1 replicas acknowledged'),
    });
    await until(async () => (await sentinel.master.command('EXISTS', 'lock:order:42')) === 0);
  });

  it('leaves no waiter behind', async () => {
    const holding = start({ replicas: 1 });
    const lock = await holding.locks.acquire('order:42');
    const tokens: bigint[] = [];
    const line: Promise<void>[] = [];
    for (const length of [1, 2]) {
      const { locks } = start({ replicas: 1 });
      const turn = locks.withLock('order:42', ({ fencingToken }) => void tokens.push(fencingToken)); // prettier-ignore
      line.push(turn);
      await until(async () => (await inLine(sentinel.master)) === length);
    }
    await crash();
    await until(() => holding.events.includes('recovered'), { within: 30_000 });
    expect(tokens).toEqual([]);
    await until(async () => (await inLine(sentinel.master)) === 2);
    expect(await lock.release()).toBe(true);
    await Promise.all(line);
    expect(tokens[0]).toBeGreaterThan(lock.fencingToken);
    expect(tokens[1]).toBeGreaterThan(tokens[0]!);
  });

  it('lets a release end in time, and its key be free after the ttl at the latest', async () => {
    const ttl = 3_000;
    const { locks, events } = start({ replicas: 1 }, { ttl, storeTimeout: 300 });
    const { locks: others } = start({ replicas: 1 });
    const lock = await locks.acquire('order:42');
    await until(() => others.tryAcquire('order:42').then((none) => none === undefined));
    crashed = [sentinel.master];
    await sentinel.master.kill();
    expect(await inTime(600, lock.release())).toBe(false);
    expect(events.at(-1)).toBe('releaseFailed');
    await sentinel.promoted();
    const next = await inTime(ttl + 2_000, others.acquire('order:42'));
    expect(next.fencingToken).toBeGreaterThan(lock.fencingToken);
  });

  it('that was asked for, keeps a held lock also where nothing is acknowledged', async () => {
    const { locks, events } = start();
    const lock = await locks.acquire('order:42');
    await sentinel.switchOver();
    await until(() => events.includes('recovered'), { within: 30_000 });
    expect(lock.isHeld).toBe(true);
    await sentinel.settled();
  });
});

/** The events of a service's locks, in order. */
function eventsOf(locks: LockService): string[] {
  const events: string[] = [];
  locks.events.on('jeopardy', ({ error }) => events.push(`jeopardy: ${String(error)}`));
  locks.events.on('recovered', () => events.push('recovered'));
  locks.events.on('lost', ({ error }) => events.push(`lost: ${error.reason}`));
  locks.events.on('releaseFailed', () => events.push('releaseFailed'));
  return events;
}

async function inLine(server: RedisServer): Promise<number> {
  return lineLength((...words) => server.command(...words), 'lock:order:42');
}
