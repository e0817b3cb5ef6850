import { EtcdServer } from '../servers/etcd-server.js';
import { MariaDbServer } from '../servers/mariadb-server.js';
import { PostgresServer } from '../servers/postgres-server.js';
import { RedisCluster } from '../servers/redis-cluster.js';
import { RedisServer } from '../servers/redis-server.js';
import { ZooKeeperServer } from '../servers/zookeeper-server.js';

/** A server that specs share: it is started once, lives as long as its process, and can be emptied. */
interface Shareable {
  share(): void;
  clear(): Promise<void>;
}

const STARTS = {
  etcd: () => EtcdServer.start(),
  mariadb: () => MariaDbServer.start(),
  postgres: () => PostgresServer.start(),
  redis: () => RedisServer.start(),
  'redis-cluster': () => RedisCluster.start(3),
  zookeeper: () => ZooKeeperServer.start(),
} satisfies Record<string, () => Promise<Shareable>>;

export type ServerKind = keyof typeof STARTS;

const servers = new Map<ServerKind, Promise<Shareable>>();

// Jest ends a worker that has grown too large with this signal, and kills it half a second later. A process that is ended by a
// signal has no event 'exit': its servers would stay.
process.once('SIGTERM', () => process.exit(128 + 15));

/** The server of this process, started when it is first asked for, and empty. */
export async function serverOfWorker(kind: ServerKind): Promise<Shareable> {
  const isNew = !servers.has(kind);
  if (isNew) servers.set(kind, started(kind));
  const server = await servers.get(kind)!;
  if (!isNew) await server.clear();
  return server;
}

async function started(kind: ServerKind): Promise<Shareable> {
  const server = await STARTS[kind]();
  server.share();
  return server;
}
