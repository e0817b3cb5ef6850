// How soon the next waiter has the key of a holder that is evicted: from the call of `evict` without a grace, so with the take
// itself, to the end of the waiter's `acquire`; beside it, in turns, the same from an ordinary release. Holder, waiter and operator
// each have a store and connections of their own.
import { options } from './lib/options.mjs';
import { projectRequire } from './lib/project.mjs';
import { publish } from './lib/results.mjs';
import { startRedis } from './lib/servers.mjs';
import { startEtcd, startZookeeper } from './lib/session-servers.mjs';
import { startMariadb, startPostgres } from './lib/sql-servers.mjs';
import { quantile } from './lib/stats.mjs';
import { sleep } from './lib/time.mjs';
import { random } from './lib/random.mjs';

const option = options({ rounds: 200, settle: 300 }, { rounds: 20 });
const { LockService, RedisLockStore } = projectRequire('nest-holdfast');
const { RedlockStore } = projectRequire('nest-holdfast/redlock');
const { EtcdLockStore } = projectRequire('nest-holdfast/etcd');
const { ZooKeeperLockStore } = projectRequire('nest-holdfast/zookeeper');
const { SqlLockStore } = projectRequire('nest-holdfast/sql');
const { Redis } = projectRequire('ioredis');
const { Pool } = projectRequire('pg');
const { createPool } = projectRequire('mysql2/promise');

const redisOf = ({ port }) => new Redis(port);
const STORES = {
  redis: {
    start: startRedis,
    open(server) {
      const client = redisOf(server);
      return { store: new RedisLockStore(client), close: () => client.disconnect() };
    },
  },
  redlock: {
    async start() {
      const servers = await Promise.all([startRedis(), startRedis(), startRedis()]);
      const stop = () => Promise.all(servers.map((server) => server.stop()));
      return { servers, stop };
    },
    open({ servers }) {
      const clients = servers.map(redisOf);
      const close = () => clients.forEach((client) => client.disconnect());
      const nodes = clients.map((client) => new RedisLockStore(client));
      return { store: new RedlockStore(nodes, { quarantine: false }), close };
    },
  },
  postgres: {
    start: startPostgres,
    open({ port }) {
      const pool = new Pool({ host: '127.0.0.1', port, user: 'postgres', database: 'postgres' });
      return { store: new SqlLockStore({ postgres: pool }), close: () => pool.end() };
    },
  },
  mariadb: {
    start: startMariadb,
    open({ port }) {
      const pool = createPool({ host: '127.0.0.1', port, user: 'root', database: 'bench' });
      return { store: new SqlLockStore({ mysql: pool }), close: () => pool.end() };
    },
  },
  etcd: {
    start: startEtcd,
    open: ({ port }) => ({ store: new EtcdLockStore({ hosts: `127.0.0.1:${port}` }) }),
  },
  zookeeper: {
    start: startZookeeper,
    open: ({ port }) => ({ store: new ZooKeeperLockStore(`127.0.0.1:${port}`) }),
  },
};

const rows = [];
for (const [name, store] of Object.entries(STORES)) {
  if (option.only && !option.only.split(',').includes(name)) continue;
  rows.push(await measure(name, store));
}
publish(option.out, {
  id: 'evict',
  title: 'From the take of an evicted holder’s key to the next waiter, in ms',
  columns: ['name', 'p50', 'p99', 'release p50', 'of a release', 'rounds'],
  rows,
  samples: rows,
  ms: 0,
});
process.exit(0);

async function measure(name, { start, open }) {
  const server = await start();
  const opened = [open(server), open(server), open(server)];
  await opened[0].store.createTable?.();
  const [holder, waiter, operator] = opened.map(({ store }) => new LockService(store));
  const release = ({ lock }) => lock.release();
  const evict = async ({ lock: { key, fencingToken } }) => {
    const { outcome } = await operator.evict(key, { fencingToken, grace: 0 });
    if (outcome !== 'taken') throw new Error(`${key}: ${outcome}`);
  };
  const times = { release: [], evict: [] };
  for (let round = -1; round < option.rounds; round++) {
    for (const [what, end] of Object.entries({ release, evict })) {
      const took = await once(`${what}:${round}`, holder, waiter, end);
      if (round >= 0) times[what].push(took); // the first opens connections
    }
  }
  await Promise.all([holder.close(), waiter.close(), operator.close()]);
  for (const { close } of opened) await close?.();
  await server.stop();
  const at = (part, what) => quantile(times[what], part).toFixed(2);
  const [p50, p99] = [at(0.5, 'evict'), at(0.99, 'evict')];
  const row = { name, p50, p99, 'release p50': at(0.5, 'release'), rounds: option.rounds };
  return { ...row, 'of a release': (p50 / row['release p50']).toFixed(2) };
}

async function once(key, holder, waiter, end) {
  const lock = await holder.acquire(key);
  const waiting = waiter.acquire(key, { waitTimeout: 60_000 });
  await sleep(option.settle * (0.5 + random())); // it has its place in line
  const began = performance.now();
  const granted = waiting.then((next) => [next, performance.now() - began]);
  await end({ lock });
  const [next, took] = await granted;
  await next.release();
  return took;
}
