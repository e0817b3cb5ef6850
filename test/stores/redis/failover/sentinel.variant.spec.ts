import { Redis, type RedisOptions } from 'ioredis';
import { Redis as Redis5 } from 'ioredis5';
import { RedisLockStore, type RedisLockStoreOptions } from 'nest-holdfast/core';
import { lockStoreConformance } from 'nest-holdfast/testing';
import { RedisSentinel } from '../../../support/servers/redis-sentinel.js';
import { disconnect } from '../locks.js';

const CLIENTS: [string, (options: RedisOptions) => Redis][] = [
  ['6', (options) => new Redis(options)],
  ['5', (options) => new Redis5(options as object) as unknown as Redis],
];

describe('RedisLockStore on Sentinel, a master and two replicas,', () => {
  let sentinel: RedisSentinel;

  beforeAll(async () => {
    sentinel = await RedisSentinel.start();
  });

  afterAll(() => sentinel.stop());

  describe.each(CLIENTS)('with ioredis %s', (_, open) => {
    conformance(open);
  });

  describe.each(CLIENTS)('with ioredis %s, where both replicas must have a lock,', (_, open) => {
    conformance(open, { replicas: 2, replicaTimeout: 5_000 });
  });

  /** Two clients stand for two processes. */
  function conformance(open: (options: RedisOptions) => Redis, options?: RedisLockStoreOptions) {
    const clients: Redis[] = [];
    let opened = 0;
    beforeAll(() => void clients.push(open(sentinel.client), open(sentinel.client)));
    afterAll(() => clients.forEach(disconnect));
    lockStoreConformance({
      test: it,
      lacks: ['sessions', 'globalTokens'],
      createStore: () => new RedisLockStore(clients[opened++ % 2]!, options),
    });
  }
});
