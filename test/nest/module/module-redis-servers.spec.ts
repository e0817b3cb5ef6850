import { type INestApplication } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import { Cluster, Redis } from 'ioredis';
import {
  DistributedLockModule,
  type DistributedLockModuleOptions,
  getLockClientToken,
  LockService,
} from 'nest-holdfast';
import { RedisCluster } from '../../support/servers/redis-cluster.js';
import { RedisSentinel } from '../../support/servers/redis-sentinel.js';
import { until } from '../../support/until.js';

describe('DistributedLockModule on several servers', () => {
  let cluster: RedisCluster;
  let sentinel: RedisSentinel;

  beforeAll(async () => {
    cluster = await RedisCluster.start(3, 1);
    sentinel = await RedisSentinel.start({ replicas: 1 });
  });

  afterAll(() => Promise.all([cluster.stop(), sentinel.stop()]));

  const start = async (options: DistributedLockModuleOptions): Promise<INestApplication> => {
    const imports = [DistributedLockModule.forRoot(options)];
    const testing = await Test.createTestingModule({ imports }).compile();
    return testing.createNestApplication({ logger: false }).init();
  };

  it('locks on Sentinel, acknowledged by a replica, and closes its client', async () => {
    const redis = sentinel.client;
    const [here, there] = [await start({ redis, replicas: 1 }), await start({ redis })];
    const client = here.get<Redis>(getLockClientToken());
    expect(client).toBeInstanceOf(Redis);
    expect(client.options).toMatchObject({ failoverDetector: true, socketTimeout: 8_000 });
    await here.get(LockService).withLock('order:1', async () => {
      expect(await there.get(LockService).tryAcquire('order:1')).toBeUndefined();
      expect(await sentinel.replicas[0]!.command('EXISTS', 'lock:order:1')).toBe(1);
    });
    await Promise.all([here.close(), there.close()]);
    await until(() => client.status === 'end');
  });

  it('locks on a Cluster, acknowledged by a replica, and closes its client', async () => {
    const redis = { cluster: cluster.startupNodes.slice(0, 2), keyPrefix: 'app:' };
    const [here, there] = [await start({ redis, replicas: 1 }), await start({ redis })];
    const client = here.get<Cluster>(getLockClientToken());
    expect(client).toBeInstanceOf(Cluster);
    expect(client.options.keyPrefix).toBe('app:');
    expect(client.options.redisOptions).toMatchObject({ socketTimeout: 8_000 });
    await here.get(LockService).withLock('order:1', async () => {
      expect(await there.get(LockService).tryAcquire('order:1')).toBeUndefined();
      expect(await client.exists('lock:order:1')).toBe(1);
    });
    const nodes = client.nodes();
    await Promise.all([here.close(), there.close()]);
    await until(() => nodes.every(({ status }) => ['end', 'wait'].includes(status)));
    expect(client.status).not.toBe('ready');
  });

  it.each<[string, object, RegExp]>([
    ['no nodes', { cluster: [] }, /redis.cluster must be a list of nodes/],
    ['a node that is none', { cluster: [undefined] }, /redis.cluster must be a list of nodes/],
    ['one node', { cluster: 'redis://localhost' }, /redis.cluster must be a list of nodes/],
    ['no sentinels', { sentinels: [], name: 'm' }, /redis.sentinels must be a list of sentinels/],
    ['no name', { sentinels: [{ port: 26_379 }] }, /redis.sentinels needs redis.name/],
    ['both', { cluster: [{}], sentinels: [{}], name: 'm' }, /either redis.cluster or redis.sent/],
  ])('refuses %s', async (_what, redis, message) => {
    const starting = start({ redis });
    await expect(starting).rejects.toThrow(TypeError);
    await expect(starting).rejects.toThrow(message);
  });
});
