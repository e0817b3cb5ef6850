import { Test } from '@nestjs/testing';
import { DistributedLockModule } from 'nest-holdfast';
import { createClientPool } from 'redis';
import { freePort } from '../../../support/processes/free-port.js';

/** As from a configuration that no compiler has seen. */
async function start(redis: object): Promise<void> {
  const imports = [DistributedLockModule.forRoot({ redis })];
  const testing = await Test.createTestingModule({ imports }).compile();
  await testing.createNestApplication({ logger: false }).init();
}

describe('forRoot({ redis }), which would become a client of localhost:6379,', () => {
  class NodeRedisClient {
    readonly options = {};

    async connect(): Promise<void> {}

    async sendCommand(): Promise<void> {}
  }

  it.each<[string, object, RegExp]>([
    ['the URL in an object', { url: 'redis://:secret@redis:6379' }, /^redis\.url .*redis: 'redis:/],
    [
      'a client of node-redis 4',
      new NodeRedisClient(),
      /^redis must be a client of ioredis or node-redis, got .* before version 5/,
    ],
    ['a pool of node-redis', createClientPool(), /got a client pool of node-redis/],
    ['a slip', { host: 'redis', portt: 6379 }, /^redis: unknown option "portt".*did you mean port/],
    ['a socket of node-redis', { socket: { host: 'redis' } }, /^redis: unknown option "socket"/],
    ['one of a server beside a cluster', { cluster: [{}], password: 's' }, /unknown option "passw/],
    [
      'a slip for the nodes of a cluster',
      { cluster: [{}], redisOptions: { pasword: 's' } },
      /^redis\.redisOptions: unknown option "pasword".*did you mean password/,
    ],
  ])('refuses %s', async (_what, redis, message) => {
    const starting = start(redis);
    await expect(starting).rejects.toThrow(TypeError);
    await expect(starting).rejects.toThrow(message);
    await expect(starting).rejects.not.toThrow(/secret/);
  });

  it.each<[string, any, RegExp]>([
    [
      'a URL',
      'redis://redis:6379/shop',
      /^redis has a URL that must end with the number of a data/,
    ],
    [
      'a text',
      { db: 'shop' },
      /^redis\.db must be the number of a database, got the string "shop"/,
    ],
    [
      'an empty variable',
      { db: '' },
      /^redis\.db must be the number of a database, got the string/,
    ],
  ])('refuses a database that has no number, %s', async (_what, redis, message) => {
    await expect(start(redis)).rejects.toThrow(message);
  });

  it('names the one of several', async () => {
    const redis = [
      { port: await freePort() },
      { url: 'redis://redis' },
      { port: await freePort() },
    ];
    await expect(start(redis)).rejects.toThrow(/^redis\[1\]\.url is no option of ioredis/);
  });
});
