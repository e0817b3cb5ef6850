// The systems that locks are kept in: how each is started, whose adapters are measured on it and how its requests are counted.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startNodes } from './nodes.mjs';
import { mysqlCounter, postgresCounter, zookeeperCounter } from './protocols.mjs';
import { redisProgram, startRedis } from './servers.mjs';
import { versionIn, versionOf } from './server-tools.mjs';
import { startEtcd, startZookeeper } from './session-servers.mjs';
import { startMariadb, startPostgres } from './sql-servers.mjs';
import { watchPort, watchPorts } from './wire.mjs';

/** What is on Redis has adapters for the other parts too, of which the best of those that wait are taken here. */
const ON_REDIS = 'holdfast,redis-semaphore-tuned,redlock5-tuned';

/**
 * `start` resolves with the `addresses` for the adapters' `setup`, the `pids` of the servers, their `version` and `stop`.
 * `watch(...addresses)` counts the requests of a process. `feature`: what the adapters declare, and `folder` where they are.
 * `isLocal`: one process has it for itself.
 */
export const SYSTEMS = [
  { id: 'memory', title: 'memory', start: nothing, isLocal: true },
  {
    id: 'redis',
    title: 'Redis',
    start: redis,
    watch: watchPorts,
    feature: 'wait',
    folder: '',
    only: ON_REDIS,
  },
  {
    id: 'redlock',
    title: 'Redlock, 5 × Redis',
    start: redlock,
    watch: watchPorts,
    feature: 'redlock',
    folder: '',
    only: ON_REDIS,
    isFresh: true, // a key that was just released at most of the servers may still be held at the others
  },
  { id: 'zookeeper', title: 'ZooKeeper', ...one(startZookeeper, zookeeperCounter) },
  { id: 'postgres', title: 'PostgreSQL', ...one(startPostgres, postgresCounter) },
  { id: 'mariadb', title: 'MariaDB', ...one(startMariadb, mysqlCounter) },
  { id: 'sqlite', title: 'SQLite', start: sqlite },
  { id: 'etcd', title: 'etcd', ...one(startEtcd), watch: () => import('./grpc-wire.mjs') },
].map((system) => ({ feature: system.id, folder: system.id, watch: () => {}, ...system }));

function nothing() {
  return { addresses: [], pids: [], version: '', stop: () => {} };
}

async function redis() {
  const { port, pid, stop } = await startRedis();
  return { addresses: [port], pids: [pid], version: redisVersion(), stop };
}

async function redlock() {
  const nodes = await startNodes(5);
  const { ports, pids } = nodes;
  return { addresses: ports, pids, version: redisVersion(), stop: () => nodes.stop() };
}

function one(startServer, createCounter) {
  return {
    async start() {
      const { port, pid, version, stop } = await startServer();
      return { addresses: [port], pids: [pid], version, stop };
    },
    watch: (port) => watchPort(port, createCounter),
  };
}

async function sqlite() {
  const { openDatabase } = await import('./sqlite.mjs');
  const folder = mkdtempSync(join(tmpdir(), 'bench-sqlite-'));
  const stop = () => rmSync(folder, { recursive: true, force: true });
  process.once('exit', stop);
  const file = join(folder, 'locks.db');
  const [row] = openDatabase(file).prepare('SELECT sqlite_version() AS version').all();
  return { addresses: [file], pids: [], version: versionIn(row.version), stop };
}

const redisVersion = () => versionOf(redisProgram());
