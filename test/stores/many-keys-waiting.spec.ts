import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Cluster, Redis } from 'ioredis';
import { LockService, RedisLockStore } from 'nest-holdfast';
import type { Lock } from 'nest-holdfast';
import { RedlockStore } from 'nest-holdfast/redlock';
import { EtcdServer } from '../support/servers/etcd-server.js';
import { prepareStore } from '../support/histories/prepare-store.js';
import { openStore } from '../support/histories/workers/open-store.js';
import type { OpenStore, StoreAddress } from '../support/histories/workers/open-store.js';
import { MariaDbServer } from '../support/servers/mariadb-server.js';
import { PostgresServer } from '../support/servers/postgres-server.js';
import { RedisCluster } from '../support/servers/redis-cluster.js';
import { RedisServer } from '../support/servers/redis-server.js';
import { ZooKeeperServer } from '../support/servers/zookeeper-server.js';
import { until } from '../support/until.js';
import { disconnect } from './redis/locks.js';

/** Milliseconds: longer than anything here takes. */
const LIFE = 20_000;
const CALLERS = 4;
const ROUNDS = 4;

interface Server {
  readonly url: string;
  stop(): Promise<unknown>;
}

/** These have no queue. */
const POLLED = ['MariaDB', 'SQLite'];

/** Opens the store of one more process. */
type Open = () => Promise<OpenStore>;
type Start = () => Promise<{ readonly open: Open; readonly stop: () => Promise<unknown> }>;

function served(kind: StoreAddress['kind'], start: () => Promise<Server>): Start {
  return async () => {
    const server = await start();
    const address = { kind, address: server.url };
    await prepareStore(address);
    return { open: () => openStore(address, LIFE), stop: () => server.stop() };
  };
}

const STORES: readonly (readonly [string, Start])[] = [
  ['Redis', served('redis', () => RedisServer.shared())],
  ['a Cluster', onCluster],
  ['Redlock', overRedis],
  ['PostgreSQL', served('postgres', () => PostgresServer.shared())],
  ['MariaDB', served('mariadb', () => MariaDbServer.shared())],
  ['SQLite', inFile],
  ['ZooKeeper', served('zookeeper', () => ZooKeeperServer.shared())],
  ['etcd', served('etcd', () => EtcdServer.shared())],
];

describe.each(STORES)('Whoever waits for several keys on %s', (name, start) => {
  let open: Open;
  let stop: () => Promise<unknown>;
  let opened: OpenStore[];
  let processes: [LockService, LockService];
  const services: LockService[] = [];

  beforeAll(async () => {
    ({ open, stop } = await start());
  });

  beforeEach(async () => {
    opened = [];
    processes = [await another(), await another()];
  });

  afterEach(async () => {
    await Promise.all(services.splice(0).map((locks) => locks.close()));
    await Promise.all(opened.map(({ close }) => close()));
  });

  afterAll(() => stop());

  async function another(): Promise<LockService> {
    const store = await open();
    opened.push(store);
    const options = { ttl: LIFE, waitTimeout: 60_000, retryDelay: 20, retryJitter: 10 };
    const locks = new LockService(store.store, options);
    services.push(locks);
    return locks;
  }

  it.each([
    ['a', 'b'],
    ['b', 'a'],
  ])('keeps no caller from the others while %s is held', async (taken, free) => {
    const [other, locks] = processes;
    const held = await other.acquire(taken);
    const both = locks.acquire(['a', 'b']);
    for (let round = 0; round < ROUNDS; round++)
      for (const each of processes) await each.withLock(free, () => undefined);
    await held.release();
    const lock = await both;
    expect(lock.keys).toEqual(['a', 'b']);
    expect(await lock.release()).toBe(true);
  });

  const inLine = POLLED.includes(name) ? it.skip : it;

  inLine.each(['first', 'last'])(
    'is granted in its turn beside callers that loop on the %s',
    async (looped) => {
      let last = 0n;
      let grants = 0;
      const over = new AbortController();
      const loop = async (locks: LockService) => {
        while (!over.signal.aborted)
          await locks.withLock(looped, async ({ fencingToken }) => {
            expect(fencingToken).toBeGreaterThan(last);
            last = fencingToken;
            grants++;
            await new Promise(setImmediate);
          });
      };
      const loops = [...processes, await another()].map(loop);
      await until(() => grants > 10);
      const locks = await another();
      try {
        for (let round = 0; round < ROUNDS; round++)
          await locks.withLock(['first', 'last'], ({ fencingToken }) => {
            expect(fencingToken).toBeGreaterThan(last);
            last = fencingToken;
          });
      } finally {
        over.abort();
        await Promise.all(loops);
      }
    },
  );

  it('excludes the others, and is granted at last, with growing tokens', async () => {
    const inside = new Map<string, string>();
    const tokens = new Map<string, bigint>();
    const work = async (lock: Lock) => {
      for (const key of lock.keys) {
        expect(inside.get(key)).toBeUndefined();
        inside.set(key, lock.key);
        expect(lock.fencingToken).toBeGreaterThan(tokens.get(key) ?? 0n);
        tokens.set(key, lock.fencingToken);
      }
      await new Promise((resolve) => setTimeout(resolve, 3));
      for (const key of lock.keys) inside.delete(key);
    };
    const sets = [['a', 'b'], ['b', 'c'], ['c', 'a'], ['a', 'b', 'c'], ['a'], ['b']];
    let grants = 0;
    const caller = async (locks: LockService, first: number) => {
      for (let round = 0; round < ROUNDS; round++) {
        await locks.withLock(sets[(first + round) % sets.length]!, work);
        grants++;
      }
    };
    await Promise.all(
      processes.flatMap((locks) => Array.from({ length: CALLERS }, (_each, n) => caller(locks, n))),
    );
    expect(grants).toBe(2 * CALLERS * ROUNDS);
  });
});

async function onCluster() {
  const cluster = await RedisCluster.shared();
  const open = async () => {
    const client = new Cluster(cluster.startupNodes);
    return { store: new RedisLockStore(client), close: async () => disconnect(client) };
  };
  return { open, stop: () => cluster.stop() };
}

async function overRedis() {
  const servers = await Promise.all([1, 2, 3].map(() => RedisServer.start()));
  const open = async () => {
    const clients = servers.map(({ url }) => new Redis(url));
    const nodes = clients.map((client) => new RedisLockStore(client));
    const store = new RedlockStore(nodes, { nodeTimeout: 60_000, quarantine: false }); // a busy machine is no hung node
    return { store, close: async () => clients.forEach(disconnect) };
  };
  return { open, stop: () => Promise.all(servers.map((server) => server.stop())) };
}

async function inFile() {
  const directory = await mkdtemp(join(tmpdir(), 'locks-'));
  const address = { kind: 'sqlite', address: join(directory, 'locks.db') } as const;
  await prepareStore(address);
  return { open: () => openStore(address, LIFE), stop: () => rm(directory, { recursive: true }) };
}
