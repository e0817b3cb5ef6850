import type { EventEmitter } from 'node:events';
import { Cluster, Redis } from 'ioredis';
import { LeaderElection, LockService, RedisLockStore } from 'nest-holdfast';
import type { LockStore } from 'nest-holdfast';
import { RedisFencingGate } from 'nest-holdfast/fencing';
import { SqlLockStore } from 'nest-holdfast/sql';
import { PostgresServer } from '../support/servers/postgres-server.js';
import { RedisCluster } from '../support/servers/redis-cluster.js';
import { RedisServer } from '../support/servers/redis-server.js';
import { until } from '../support/until.js';
import { openPool } from './sql/postgres/postgres-pool.js';
import { disconnect } from './redis/locks.js';

/** Node takes more than ten listeners for a leak. */
const MANY = 20;

const listenersOf = (emitter: EventEmitter) =>
  emitter.eventNames().map((event) => emitter.listenerCount(event));
const mostListeners = (emitter: EventEmitter) => Math.max(...listenersOf(emitter));
const admitted = (emitter: EventEmitter) => [emitter.getMaxListeners(), ...listenersOf(emitter)];

describe('Twenty stores on one client get no warning of a leak, and leave the client as it was:', () => {
  it.each([
    ['a client of Redis', {}],
    ['one of ioredis 6 that listens besides', { protocol: 3, autoResubscribe: false } as const],
  ])('%s, with gates and elections beside them', async (_, options) => {
    const server = await RedisServer.shared();
    const redis = new Redis(server.url, options);
    const gates = Array.from({ length: MANY }, () => new RedisFencingGate(redis));
    await served([redis], () => new RedisLockStore(redis), gates);
    disconnect(redis);
    await server.stop();
  });

  it('a Cluster', async () => {
    const cluster = await RedisCluster.shared();
    const redis = new Cluster(cluster.startupNodes);
    await until(() => redis.status === 'ready');
    await served([redis, ...redis.nodes('all')], () => new RedisLockStore(redis));
    disconnect(redis);
    await cluster.stop();
  });

  it('a pool of PostgreSQL', async () => {
    const server = await PostgresServer.shared();
    const pool = openPool(server.url);
    await new SqlLockStore({ postgres: pool }).createTable();
    await served([pool], () => new SqlLockStore({ postgres: pool }, { listen: false }));
    await pool.end();
    await server.stop();
  });

  /** All services get the same key in turn, and elections go on. */
  async function served(
    emitters: readonly EventEmitter[],
    createStore: () => LockStore,
    gates: readonly RedisFencingGate[] = [],
  ): Promise<void> {
    const before = emitters.map(admitted);
    const services = Array.from({ length: MANY }, () => new LockService(createStore()));
    const elections = services.map((locks, index) => new LeaderElection(locks, `job:${index}`));
    for (const election of elections) election.start();
    await until(() => elections.every(({ isLeader }) => isLeader));
    const turns = services.map((locks, index) =>
      locks.withLock('order:42', { retryDelay: 10 }, async ({ key, fencingToken }) => {
        await gates[index]?.enter({ key, fencingToken });
      }),
    );
    await Promise.all(turns);
    for (const emitter of emitters)
      expect(mostListeners(emitter)).toBeLessThanOrEqual(emitter.getMaxListeners());
    await Promise.all(elections.map((election) => election.stop()));
    await Promise.all(services.map((locks) => locks.close()));
    expect(emitters.map(admitted)).toEqual(before);
  }
});
