import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Cluster } from 'ioredis';
import { LockService, MemoryLockStore, RedisLockStore } from 'nest-holdfast';
import type { Lock } from 'nest-holdfast';
import { RedlockStore } from 'nest-holdfast/redlock';
import { EtcdServer } from '../support/etcd-server.js';
import { prepareStore } from '../support/histories/prepare-store.js';
import { openStore } from '../support/histories/workers/open-store.js';
import type { OpenStore, StoreAddress } from '../support/histories/workers/open-store.js';
import { MariaDbServer } from '../support/mariadb-server.js';
import { PostgresServer } from '../support/postgres-server.js';
import { RedisCluster } from '../support/redis-cluster.js';
import { RedisServer } from '../support/redis-server.js';
import { ZooKeeperServer } from '../support/zookeeper-server.js';
import { disconnect } from './redis-locks.js';

/** Milliseconds: longer than anything here takes. */
const LIFE = 20_000;
const CALLERS = 4;
const ROUNDS = 4;

interface Server {
  readonly url: string;
  stop(): Promise<unknown>;
}

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
  ['Redlock', overMemory],
  ['PostgreSQL', served('postgres', () => PostgresServer.shared())],
  ['MariaDB', served('mariadb', () => MariaDbServer.shared())],
  ['SQLite', inFile],
  ['ZooKeeper', served('zookeeper', () => ZooKeeperServer.shared())],
  ['etcd', served('etcd', () => EtcdServer.shared())],
];

describe.each(STORES)('Whoever waits for several keys on %s', (_, start) => {
  let open: Open;
  let stop: () => Promise<unknown>;
  let opened: OpenStore[];
  let processes: [LockService, LockService];

  beforeAll(async () => {
    ({ open, stop } = await start());
  });

  beforeEach(async () => {
    opened = [await open(), await open()];
    const options = { ttl: LIFE, waitTimeout: 60_000, retryDelay: 20, retryJitter: 10 };
    processes = [0, 1].map((index) => new LockService(opened[index]!.store, options)) as [
      LockService,
      LockService,
    ];
  });

  afterEach(async () => {
    await Promise.all(processes.map((locks) => locks.close()));
    await Promise.all(opened.map(({ close }) => close()));
  });

  afterAll(() => stop());

  it.each([
    ['a', 'b'],
    ['b', 'a'],
  ])('keeps nobody from the others while %s is held', async (taken, free) => {
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

async function overMemory() {
  const nodes = [1, 2, 3].map(() => new MemoryLockStore());
  const open = async () => ({ store: new RedlockStore(nodes), close: async () => undefined });
  return { open, stop: async () => undefined };
}

async function inFile() {
  const directory = await mkdtemp(join(tmpdir(), 'locks-'));
  const address = { kind: 'sqlite', address: join(directory, 'locks.db') } as const;
  await prepareStore(address);
  return { open: () => openStore(address, LIFE), stop: () => rm(directory, { recursive: true }) };
}
