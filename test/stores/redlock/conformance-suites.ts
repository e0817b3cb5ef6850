import { Redis } from 'ioredis';
import { MemoryLockStore, RedisLockStore } from 'nest-holdfast/core';
import { RedlockStore } from 'nest-holdfast/redlock';
import { FakeClock, lockStoreConformance } from 'nest-holdfast/testing';
import { RedisServer } from '../../support/servers/redis-server.js';
import { PATIENT } from '../redis/conformance-suite.js';
import { disconnect } from '../redis/locks.js';

const LACKED = [
  'sessions',
  'globalTokens',
  'raiseFencing',
  'extendMany',
  'readLocks',
  'semaphores',
  'permitQueue',
  'downgrade',
] as const;

export function overMemoryNodes(count: number): void {
  describe(`RedlockStore over ${count} memory nodes`, () => {
    beforeAll(() => void jest.spyOn(process, 'emitWarning').mockReturnValue());
    afterAll(() => jest.restoreAllMocks());

    const clock = new FakeClock();
    const nodes = Array.from({ length: count }, () => new MemoryLockStore(clock));
    lockStoreConformance({
      test: it,
      createStore: () => new RedlockStore(nodes, { clock }),
      expire: (ms) => clock.advance(ms),
      lacks: [...LACKED, 'handOff'],
    });
  });
}

export function overRedisNodes(count: number): void {
  describe(`RedlockStore over ${count} Redis nodes`, () => {
    let servers: RedisServer[];
    const clients: Redis[] = [];

    beforeAll(async () => {
      servers = await Promise.all(Array.from({ length: count }, () => RedisServer.start()));
    });

    afterAll(async () => {
      clients.forEach(disconnect);
      await Promise.all(servers.map((server) => server.stop()));
    });

    /** A store of its own, as each process has. */
    function open(): RedlockStore {
      const opened = servers.map(({ url }) => new Redis(url));
      clients.push(...opened);
      const nodes = opened.map((client) => new RedisLockStore(client, { silenceTimeout: PATIENT }));
      return new RedlockStore(nodes, { nodeTimeout: PATIENT, quarantine: false });
    }

    lockStoreConformance({ test: it, lacks: LACKED, createStore: open });
  });
}
