import { createPool } from 'mysql2/promise';
import { Pool } from 'pg';
import * as ofMySql from '../../lib/stores/sql/mysql/mysql-connections.js';
import * as ofPostgres from '../../lib/stores/sql/postgres/postgres-expressions.js';
import * as ofSqlite from '../../lib/stores/sql/sqlite/sqlite-time.js';
import { leftBehind } from '../support/faults/left-behind.js';
import { prepareStore } from '../support/histories/prepare-store.js';
import type { ServerProcess } from '../support/processes/server-process.js';
import { TcpProxy } from '../support/processes/tcp-proxy.js';
import { EtcdServer } from '../support/servers/etcd-server.js';
import { MariaDbServer } from '../support/servers/mariadb-server.js';
import { PostgresServer } from '../support/servers/postgres-server.js';
import { RedisCluster } from '../support/servers/redis-cluster.js';
import { RedisSentinel } from '../support/servers/redis-sentinel.js';
import { RedisServer } from '../support/servers/redis-server.js';
import { ZooKeeperServer } from '../support/servers/zookeeper-server.js';
import { contentOf } from '../stores/etcd/queue/content.js';
import { RedlockNodes } from '../stores/redlock/support/nodes.js';
import { ephemeralNodes } from '../stores/zookeeper/nodes/content.js';
import type { SoakKind } from './workers/open-soak-store.js';

/** The servers behind one store, and what a run does to them. */
export interface SoakServers {
  readonly address: string;
  readonly servers: readonly ServerProcess[];
  /** The ports at which clients connect. */
  readonly accepting: readonly number[];
  /** Those that a restart costs no lock: they keep their data, or the others have it. */
  readonly restarts: readonly ServerProcess[];
  readonly proxies: readonly TcpProxy[];
  /** Names of what is stored and should not be, once no caller holds or waits. */
  leftovers(): Promise<readonly string[]>;
  /** Keys, rows or nodes, whatever they are for. */
  stored(): Promise<number>;
  /** After a restart, before the next fault. */
  readonly settled?: () => Promise<void>;
  stop(): Promise<void>;
}

/** A row whose time is over is free, with the token of its last holder. */
const HELD = 'FROM holdfast_locks WHERE token IS NOT NULL AND expires_at >';
const ALL = 'SELECT count(*) AS n FROM holdfast_locks';
/** Seconds that a node of Redlock has to be up before it votes again, by its own word. */
const PROBATION = 3;

export const SOAK_SERVERS: Readonly<
  Record<Exclude<SoakKind, 'migrating'>, (directory: string) => Promise<SoakServers>>
> = {
  memory: async () => without(''),
  sqlite: async (directory) => sqlite(`${directory}/locks.sqlite`),
  redis: async () => {
    const server = await RedisServer.start();
    const proxy = await TcpProxy.start(server.port);
    return { ...redisServers([server]), address: proxy.url, proxies: [proxy] };
  },
  sentinel: async () => {
    const setup = await RedisSentinel.start();
    const { address, ...rest } = redisServers(setup.servers, JSON.stringify(setup.client));
    return { ...rest, address, servers: [], stop: () => setup.stop() };
  },
  cluster: async () => {
    const cluster = await RedisCluster.start(3);
    return redisServers(cluster.nodes, JSON.stringify(cluster.startupNodes));
  },
  redlock: async () => {
    const nodes = await RedlockNodes.start(5);
    const proxies = await Promise.all(nodes.servers.map(({ port }) => TcpProxy.start(port)));
    const address = proxies.map(({ url }) => url).join(',');
    const settled = () => nodes.upFor(PROBATION);
    await settled();
    return { ...redisServers(nodes.servers, address), restarts: nodes.servers, proxies, settled };
  },
  zookeeper: async () => {
    const server = await ZooKeeperServer.start();
    const leftovers = () => ephemeralNodes(server);
    const stored = async () =>
      Number(/zk_znode_count\s+(\d+)/.exec(await server.word('mntr'))?.[1] ?? 0);
    return proxied(server, (port) => `127.0.0.1:${port}`, { leftovers, stored });
  },
  etcd: async () => {
    const server = await EtcdServer.start();
    const isOfLiving = (key: string) => key.includes('/%session/'); // of processes that live, or did a moment ago
    const leftovers = async () =>
      (await contentOf(server)).map(({ key }) => key).filter((key) => !isOfLiving(key));
    const stored = async () => (await contentOf(server)).length;
    return proxied(server, (port) => `http://127.0.0.1:${port}`, { leftovers, stored });
  },
  postgres: async () => {
    const server = await PostgresServer.start();
    await prepareStore({ kind: 'postgres', address: server.url });
    const rows = async <Row>(sql: string) => {
      const pool = new Pool({ connectionString: server.url, max: 1 });
      return pool
        .query(sql)
        .then(({ rows: found }) => found as Row[])
        .finally(() => void pool.end());
    };
    return proxied(server, (port) => server.urlAt(port), fromRows(rows, 'key', ofPostgres.NOW));
  },
  mariadb: async () => {
    const server = await MariaDbServer.start();
    await prepareStore({ kind: 'mariadb', address: server.url });
    const rows = async <Row>(sql: string) => {
      const pool = createPool({ uri: server.url, connectionLimit: 1 });
      return pool
        .query(sql)
        .then(([found]) => found as Row[])
        .finally(() => void pool.end());
    };
    return proxied(server, (port) => server.urlAt(port), fromRows(rows, '`key`', ofMySql.NOW));
  },
};

async function proxied(
  server: ServerProcess,
  addressAt: (port: number) => string,
  looks: Pick<SoakServers, 'leftovers' | 'stored'>,
): Promise<SoakServers> {
  const proxy = await TcpProxy.start(server.port);
  const stop = () => server.stop();
  return { ...looks, address: addressAt(proxy.port), servers: [server], accepting: [server.port], restarts: [server], proxies: [proxy], stop }; // prettier-ignore
}

function redisServers(servers: readonly RedisServer[], address = ''): SoakServers {
  const each = <T>(ask: (server: RedisServer) => Promise<T>) => Promise.all(servers.map(ask));
  return {
    address,
    servers,
    accepting: servers.map(({ port }) => port),
    restarts: [],
    proxies: [],
    leftovers: async () => (await each(leftBehind)).flat(),
    stored: async () =>
      (await each(async (server) => Number(await server.command('DBSIZE')))).reduce(
        (a, b) => a + b,
      ),
    stop: async () => void (await each((server) => server.remove())),
  };
}

type Rows = <Row>(sql: string) => Promise<Row[]>;

function fromRows(rows: Rows, key: string, now: string): Pick<SoakServers, 'leftovers' | 'stored'> {
  return {
    leftovers: async () => {
      const found = await rows<{ k: string }>(`SELECT ${key} AS k ${HELD} ${now}`);
      return found.map(({ k }) => k);
    },
    stored: async () => Number((await rows<{ n: string }>(ALL))[0]!.n),
  };
}

async function sqlite(file: string): Promise<SoakServers> {
  await prepareStore({ kind: 'sqlite', address: file });
  const { default: Database } = await import('libsql');
  const rows: Rows = async <Row>(sql: string) => {
    const database = new Database(file);
    try {
      return database.prepare(sql).all() as Row[];
    } finally {
      database.close();
    }
  };
  return { ...without(file), ...fromRows(rows, 'key', ofSqlite.NOW) };
}

function without(address: string): SoakServers {
  const looks = { leftovers: async () => [], stored: async () => 0, stop: async () => undefined };
  return { address, servers: [], accepting: [], restarts: [], proxies: [], ...looks };
}
