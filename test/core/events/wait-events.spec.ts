import { Redis } from 'ioredis';
import { LockService, RedisLockStore } from 'nest-holdfast/core';
import type { LockAttemptEvent, LockTimeoutError } from 'nest-holdfast/core';
import { RedisServer } from '../../support/servers/redis-server';
import { until } from '../../support/until';

const NAMES = ['waiting', 'held', 'timeout', 'refused', 'released'] as const;

describe('the events of waits on Redis', () => {
  let redis: RedisServer;
  let clients: Redis[];
  let holder: LockService;
  let caller: LockService;
  const seen: [name: string, event: LockAttemptEvent][] = [];

  beforeAll(async () => {
    redis = await RedisServer.shared();
    clients = [new Redis(redis.url), new Redis(redis.url)];
    [holder, caller] = clients.map((client) => new LockService(new RedisLockStore(client))) as [
      LockService,
      LockService,
    ];
    for (const name of NAMES)
      caller.events.on(name, (event: object) => seen.push([name, event as LockAttemptEvent]));
  });
  beforeEach(() => void seen.splice(0));
  afterAll(async () => {
    await Promise.all([holder.close(), caller.close()]);
    for (const client of clients) client.disconnect();
    await redis.stop();
  });

  it('tell of a wait in the queue of the server, and how long it was', async () => {
    const first = await holder.acquire('events:queue');
    const call = caller.acquire('events:queue', { name: 'events:<what>' });
    await until(() => seen.length === 1);
    await first.release();
    await (await call).release();
    expect(seen).toMatchObject([
      ['waiting', { name: 'events:<what>', attempts: 1, store: 'redis' }],
      ['held', { name: 'events:<what>', attempts: 2 }],
      ['released', { name: 'events:<what>' }],
    ]);
    expect(seen[1]![1].waited).toBeGreaterThanOrEqual(seen[0]![1].waited);
  });

  it.each([['read'], ['write']] as const)('tell who has it at the end, as a %s', async (mode) => {
    const first = await holder.acquire('events:timeout', { mode });
    const call = caller.acquire('events:timeout', { waitTimeout: 100 });
    const error = (await call.catch((each: unknown) => each)) as LockTimeoutError;
    expect(error.code).toBe('LOCK_TIMEOUT');
    const heldBy = expect.stringContaining(`:${process.pid}:`);
    expect(error.heldBy).toEqual(heldBy);
    expect(seen).toMatchObject([
      ['waiting', { mode: 'write' }],
      ['timeout', { heldBy, error }],
    ]);
    expect(seen[1]![1].waited).toBeGreaterThanOrEqual(100);
    await first.release();
  });

  it('tell of a permit that is not free', async () => {
    const first = await holder.acquire('events:permits', { permits: 1 });
    expect(await caller.tryAcquire('events:permits', { permits: 1 })).toBeUndefined();
    expect(seen).toMatchObject([['refused', { reason: 'held', mode: 'permits', attempts: 1 }]]);
    await first.release();
  });
});
