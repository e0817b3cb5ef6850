import { Cluster, Redis } from 'ioredis';
import Database from 'libsql';
import { RedisLockStore } from 'nest-holdfast/core';
import { SqlLockStore } from 'nest-holdfast/sql';
import { disconnect } from '../../stores/redis/locks.js';
import { BACKENDS } from '../../stores/support/backends.js';
import type { Opened } from '../../stores/support/backends.js';
import { RedisCluster } from '../../support/servers/redis-cluster.js';
import { RedisSentinel } from '../../support/servers/redis-sentinel.js';
import { RedisServer } from '../../support/servers/redis-server.js';

/** A started store. Each opening stands for a process. */
export interface PageStore {
  open(): Opened;
  stop?(): unknown;
}

/** Every store of the table, but the one of this process. */
export const PAGE_STORES: [string, () => Promise<PageStore>][] = [
  ['Redis', async () => ofClients(await RedisServer.shared(), ({ url }) => new Redis(url))],
  ['Sentinel', sentinel],
  ['Cluster', cluster],
  ['SQLite', sqlite],
  ...BACKENDS.map(([name, start]): [string, () => Promise<PageStore>] => [
    name,
    async () => {
      const backend = await start();
      return { open: () => backend.open(backend.port), stop: () => backend.stop?.() };
    },
  ]),
];

async function sentinel(): Promise<PageStore> {
  const servers = await RedisSentinel.start({ replicas: 1, sentinels: 1 });
  return { ...ofClients(servers, ({ client }) => new Redis(client)), stop: () => servers.stop() };
}

async function cluster(): Promise<PageStore> {
  return ofClients(await RedisCluster.shared(), ({ startupNodes }) => new Cluster(startupNodes));
}

/** A file would lock as a whole: the processes share a connection here. */
async function sqlite(): Promise<PageStore> {
  const database = new Database(':memory:');
  await new SqlLockStore({ sqlite: database }).createTable();
  return {
    open: () => ({ store: new SqlLockStore({ sqlite: database }) }),
    stop: () => database.close(),
  };
}

function ofClients<Server>(
  server: Server,
  connect: (server: Server) => Redis | Cluster,
): PageStore {
  const open = () => {
    const client = connect(server);
    client.on('error', () => {}); // the commands say what matters here
    return {
      store: new RedisLockStore(client, { silenceTimeout: 60_000 }),
      close: () => disconnect(client),
    };
  };
  return { open };
}
