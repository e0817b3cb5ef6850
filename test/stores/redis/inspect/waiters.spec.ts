import { Redis } from 'ioredis';
import { RedisLockStore } from 'nest-holdfast';
import { RedisServer } from '../../../support/servers/redis-server.js';
import { aRequest } from '../locks.js';

const LINE = '{lock:a}:line';
const SHARED = 1e13;

describe('the waiters that inspect tells', () => {
  let server: RedisServer;
  let redis: Redis;
  let store: RedisLockStore;

  beforeAll(async () => {
    server = await RedisServer.shared();
    redis = new Redis(server.url);
    store = new RedisLockStore(redis);
  });

  beforeEach(() => redis.flushall());

  afterAll(async () => {
    redis.disconnect();
    await server.stop();
  });

  /** As a process of another machine would wait. */
  async function wait(number: number, holder: string, { lapses = 60_000, isReader = false } = {}) {
    const entry = `1000 other${isReader ? '*inf' : ''}.token${number}:${holder}`;
    const deadline = Date.now() + lapses + (isReader ? SHARED : 0);
    await redis.zadd(LINE, number, entry, deadline, `@${entry}`);
  }

  it('names a hundred waiters, and counts all of them', async () => {
    await store.tryAcquire(aRequest('a'));
    for (let number = 1; number <= 130; number++) await wait(number, `host:${number}:1`);
    const seen = await store.inspect('a');
    expect(seen?.waiterCount).toBe(130);
    expect(seen?.waiters).toEqual(Array.from({ length: 100 }, (_, index) => `host:${index + 1}:1`));
    const [listed] = (await store.list!({ limit: 1 })).locks;
    expect(listed).toMatchObject({ waiterCount: 130, waiters: seen?.waiters?.slice(0, 10) });
  });

  it('leaves out those that are dead', async () => {
    await store.tryAcquire(aRequest('a'));
    await wait(1, 'dead:1:1', { lapses: -10_000 });
    await wait(2, 'writer:1:1');
    await wait(3, 'dead:2:1', { lapses: -10_000, isReader: true });
    await wait(4, 'reader:1:1', { isReader: true });
    expect(await store.inspect('a')).toMatchObject({
      waiters: ['writer:1:1', 'reader:1:1'],
      waiterCount: 2,
    });
  });

  it('does not give a claim the time of the holder before', async () => {
    await store.tryAcquire(aRequest('a'));
    expect((await store.inspect('a'))?.heldFor).toBeGreaterThanOrEqual(0);
    await redis.set('lock:a', 'other.token:host:1:1', 'PX', 1_000); // as a hand-off leaves it
    const seen = await store.inspect('a');
    expect(seen).toMatchObject({ holder: 'host:1:1' });
    expect(seen?.heldFor).toBeUndefined();
  });

  it('has no time for a counter that is none', async () => {
    for (const floor of [5n, BigInt(Date.now() + 3_600_000) * 1_000n]) {
      await redis.flushall();
      await store.tryAcquire({ ...aRequest('a'), fencingFloor: floor });
      const seen = await store.inspect('a');
      expect(seen?.fencingToken).toBe(floor);
      expect(seen?.heldFor).toBeUndefined();
    }
  });
});
