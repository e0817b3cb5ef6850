import { Logger } from '@nestjs/common';
import { Redis } from 'ioredis';
import { MemoryLockStore } from 'nest-holdfast';
import { FakeClock } from 'nest-holdfast/testing';
import type { DistributedLockModuleOptions } from '../../../../lib/nest/module/module-options';
import { storeOf } from '../../../../lib/nest/module/store-for';
import { aRequest } from '../../../stores/redis/locks';

const closed = async () => undefined;
const connectedTo = (client: Redis | Redis[]) => ({ client, close: closed });

describe('The store of a module', () => {
  const warn = jest.fn();
  const clients = Array.from({ length: 3 }, () => new Redis({ lazyConnect: true }));
  const [client] = clients as [Redis];

  beforeEach(() => {
    warn.mockReset();
    jest.spyOn(Logger.prototype, 'warn').mockImplementation(warn);
  });
  afterEach(() => jest.restoreAllMocks());
  afterAll(() => clients.forEach((each) => each.disconnect()));

  it('is the one that the options have', async () => {
    const store = new MemoryLockStore();
    expect(await storeOf({ store }, undefined)).toBe(store);
    expect(warn).not.toHaveBeenCalled();
  });

  it('is in memory where they have none, by their clock, with a warning', async () => {
    const clock = new FakeClock();
    const store = await storeOf({ clock }, undefined);
    expect(store.name).toBe('memory');
    expect(warn.mock.calls).toEqual([[expect.stringMatching(/^Neither redis nor store is set/)]]);
    await store.tryAcquire(aRequest('a', 100));
    await clock.advance(100);
    expect(await store.inspect!('a')).toBeUndefined();
  });

  it.each([
    ['in production, with a warning', 'production', 1],
    ['in a test, without one', 'test', 0],
  ])('locks nothing where they are switched off: %s', async (_, env, warnings) => {
    jest.replaceProperty(process, 'env', { ...process.env, NODE_ENV: env });
    const store = new MemoryLockStore();
    const migrate = { to: { store }, phase: 'to', largestTtl: 5 } as const;
    for (const options of [{ store }, { migrate }]) {
      warn.mockReset();
      expect((await storeOf({ ...options, enabled: false }, undefined)).name).toBe('disabled');
      expect(warn).toHaveBeenCalledTimes(warnings);
    }
  });

  it('is on Redis, or on a Redlock, where there is a client, or a list', async () => {
    expect((await storeOf({}, connectedTo(client))).name).toBe('redis');
    expect((await storeOf({}, connectedTo(clients))).name).toBe('redlock');
    expect(warn).not.toHaveBeenCalled();
  });

  it.each<DistributedLockModuleOptions>([
    { keyPrefix: 5 as never },
    { replicas: -1 },
    { replicas: 1, replicaTimeout: -1 },
    { localPassLimit: -1 },
    { yieldEvery: -1 },
    { silenceTimeout: -1 },
    { serverChecks: 5 as never },
  ])('on Redis has its options: %j', async (options) => {
    const name = Object.keys(options).at(-1)!;
    for (const each of [client, clients])
      await expect(storeOf(options, connectedTo(each))).rejects.toThrow(`RedisLockStore: ${name}`);
  });

  it.each<DistributedLockModuleOptions>([
    { nodeTimeout: 0 },
    { quarantine: 5 as never },
    { largestTtl: -1 },
  ])('on a Redlock has its options: %j', async (options) => {
    const [name] = Object.keys(options);
    const made = storeOf(options, connectedTo(clients));
    await expect(made).rejects.toThrow(`RedlockStore: ${name}`);
    expect((await storeOf(options, connectedTo(client))).name).toBe('redis');
  });

  it('on a Redlock counts from the ttl of the module, unless it names another', async () => {
    await expect(storeOf({ ttl: 0 }, connectedTo(clients))).rejects.toThrow('largestTtl');
    const options = { ttl: 0, largestTtl: 5 };
    expect((await storeOf(options, connectedTo(clients))).name).toBe('redlock');
  });

  it('moves from one to another, each with its options, or those of the module', async () => {
    const from = { store: new MemoryLockStore() };
    const to = { store: new MemoryLockStore() };
    const migrate = { from, to, phase: 'dual', largestTtl: 30_000 } as const;
    expect((await storeOf({ migrate }, undefined)).name).toBe('memory+memory');
    const side = connectedTo(client);
    const connections = { ...side, from: undefined, to: side };
    const moved = (prefix: object) =>
      storeOf({ keyPrefix: 5 as never, replicas: -1, migrate: { ...migrate, to: prefix } }, connections); // prettier-ignore
    await expect(moved({})).rejects.toThrow('RedisLockStore: keyPrefix');
    await expect(moved({ keyPrefix: 'new:' })).rejects.toThrow('RedisLockStore: replicas');
  });
});
