import { RedisLockStore } from 'nest-holdfast';
import { OwnClient } from './locks.js';
import { RedisServer } from '../../support/servers/redis-server.js';
import { leftBehind } from '../../support/faults/left-behind.js';
import { storeFaults } from '../../support/faults/store-faults.js';

describe('A Redis that is', () => {
  storeFaults({
    startServer: () => RedisServer.start(),
    portsOf: ({ port }) => [port],
    openStore: ([port]) => {
      const client = new OwnClient(`redis://127.0.0.1:${port}`);
      const store = new RedisLockStore(client.redis);
      return { store, close: () => client[Symbol.asyncDispose]() };
    },
    life: 4_000,
    keepsData: false,
    leftovers: leftBehind,
  });
});
