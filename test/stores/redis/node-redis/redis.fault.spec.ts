import { RedisLockStore } from 'nest-holdfast';
import { createClient } from 'redis';
import { RedisServer } from '../../../support/servers/redis-server.js';
import { leftBehind } from '../../../support/faults/left-behind.js';
import { storeFaults } from '../../../support/faults/store-faults.js';

describe('With a client of node-redis, a Redis that is', () => {
  storeFaults({
    startServer: () => RedisServer.start(),
    portsOf: ({ port }) => [port],
    openStore: ([port]) => ({
      store: new RedisLockStore(createClient({ url: `redis://127.0.0.1:${port}` })),
      close: async () => {},
    }),
    life: 4_000,
    keepsData: false,
    leftovers: leftBehind,
  });
});
