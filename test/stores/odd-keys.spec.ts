import * as fc from 'fast-check';
import { Redis } from 'ioredis';
import { LockService, MemoryLockStore, RedisLockStore } from 'nest-holdfast';
import type { LockStore } from 'nest-holdfast';
import { RedisServer } from '../support/servers/redis-server.js';

/** Any text that has a UTF-8 form and fits. */
const anyKey = fc
  .string({ unit: 'grapheme', minLength: 1, maxLength: 100 })
  .filter((key) => key.isWellFormed() && Buffer.byteLength(key) <= 512);

describe('a key with a quote in it, or with anything else', () => {
  let server: RedisServer;
  let client: Redis;
  const stores: Record<string, () => LockStore> = {
    memory: () => new MemoryLockStore(),
    redis: () => new RedisLockStore(client),
  };

  beforeAll(async () => {
    server = await RedisServer.shared();
    client = new Redis(server.url);
  });

  afterAll(async () => {
    await client.quit();
    await server.stop();
  });

  it.each(Object.keys(stores))('is a key like every other: %s', async (name) => {
    const locks = new LockService(stores[name]!());
    const quoted = [`it's`, '"', '`', '\\', "'; return 1 --", '\u0000', '\n', '${x}', '%s'];
    const property = fc.asyncProperty(anyKey, async (key) => {
      await locks.withLock(key, async (lock) => {
        expect(lock.key).toBe(key);
        expect(await locks.inspect(key)).toMatchObject({ key, fencingToken: lock.fencingToken });
      });
      expect(await locks.inspect(key)).toBeUndefined();
    });
    await fc.assert(property, { numRuns: 100, examples: quoted.map((key) => [key]) });
    await locks.close();
  });
});
