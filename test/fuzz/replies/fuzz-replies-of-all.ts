import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { ZooKeeperLockStore } from 'nest-holdfast/zookeeper';
import { BACKENDS, type Backend } from '../../stores/support/backends.js';
import { serverOfWorker } from '../../support/processes/servers-of-worker.js';
import { ZooKeeperServer } from '../../support/servers/zookeeper-server.js';
import { fuzzReplies } from './fuzz-replies.js';

/** Stores whose servers are asked by a protocol of their own. Redlock has one node: its answers are those of Redis. */
export const FUZZED = ['Redlock', 'PostgreSQL', 'MariaDB', 'etcd', 'ZooKeeper'] as const;

/** Parsers that throw where no caller can catch it, or never return, at an answer that they cannot read. */
export const OF_DRIVERS =
  /node_modules\/(pg-protocol|pg|mysql2|ioredis|redis-parser|node-zookeeper-client|@grpc)\//;

/** A session whose connection was damaged may last until it expires: this is the default. */
const SESSION_TIMEOUT = 10_000;

async function zooKeeper(): Promise<Backend> {
  const server = await ZooKeeperServer.start();
  const open = (at: number) => ({
    store: new ZooKeeperLockStore(`127.0.0.1:${at}`, { sessionTimeout: SESSION_TIMEOUT }),
  });
  return { port: server.port, open, stop: () => server.stop() };
}

/** For a process of its own, with servers of its own. */
export async function fuzzAllReplies(
  runs: number,
  seed: number,
  store?: string,
): Promise<string[]> {
  Reflect.set(globalThis, 'serversOfWorker', serverOfWorker);
  watchFreezes();
  const found: string[] = [];
  let ofDrivers = 0;
  process.on('uncaughtException', ({ stack = '' }) => {
    if (OF_DRIVERS.test(stack.split('\n').slice(1, 6).join())) ofDrivers++;
    else found.push(`uncaught: ${stack}`);
  });
  for (const [name, start] of BACKENDS.filter((each) => FUZZED.includes(each[0] as never))) {
    if (store !== undefined && store !== name) continue;
    found.push(...(await fuzzReplies(name, name === 'ZooKeeper' ? zooKeeper : start, runs, seed)));
  }
  if (ofDrivers > 0) console.log(`${ofDrivers} errors that drivers threw uncaught`);
  return found;
}

/** Names the call in which this process is frozen, and ends it. */
function watchFreezes(): void {
  const beats = new Int32Array(new SharedArrayBuffer(4));
  new Worker(join(__dirname, 'freeze-watch.cjs'), { workerData: beats.buffer }).unref();
  setInterval(() => Atomics.add(beats, 0, 1), 100).unref();
}
