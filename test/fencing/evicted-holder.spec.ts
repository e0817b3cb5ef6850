import { randomUUID } from 'node:crypto';
import { RedisFencingGate } from 'nest-holdfast/fencing';
import { RedisServer } from '../support/servers/redis-server.js';
import { RedisLocks } from '../stores/redis/locks.js';

let server: RedisServer;

beforeAll(async () => {
  server = await RedisServer.shared();
});

afterAll(() => server.stop());

describe('the write of a holder that was evicted and does not listen', () => {
  it('is refused once the resource has seen the token of the eviction, or that of the next holder', async () => {
    await using holder = new RedisLocks(server.url, { autoExtend: false });
    await using operator = new RedisLocks(server.url);
    for (const sees of ['eviction', 'next holder']) {
      const key = randomUUID();
      const gate = new RedisFencingGate(operator.redis);
      const lock = await holder.locks.acquire(key);
      const stale = { key, fencingToken: lock.fencingToken };
      await gate.enter(stale);
      const { tokenAfter } = await operator.locks.evict(key, { fencingToken: lock.fencingToken, grace: 0 }); // prettier-ignore
      await gate.enter(stale); // the eviction alone stops no writer
      await using next = await operator.locks.acquire(key);
      const larger = sees === 'eviction' ? tokenAfter! : next.fencingToken;
      await gate.enter({ key, fencingToken: larger });
      await expect(gate.enter(stale)).rejects.toMatchObject({ code: 'LOCK_STALE' });
    }
  });
});
