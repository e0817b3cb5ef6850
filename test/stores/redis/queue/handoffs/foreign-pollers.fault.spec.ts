import { Cluster, Redis } from 'ioredis';
import { LockService, RedisLockStore, type RedisLockStoreOptions } from 'nest-holdfast';
import { RedisCluster } from '../../../../support/servers/redis-cluster.js';
import { RedisSentinel } from '../../../../support/servers/redis-sentinel.js';
import { RedisServer } from '../../../../support/servers/redis-server.js';
import { until } from '../../../../support/until.js';
import { disconnect } from '../../locks.js';

/** Milliseconds between two attempts of a program that has no place in the line. */
const POLL = 20;

interface Servers {
  open(): Redis | Cluster;
  stop(): Promise<void>;
}

const SERVERS: [string, () => Promise<Servers>][] = [
  ['one server', async () => ofServer(await RedisServer.shared())],
  ['Sentinel', async () => ofSentinel(await RedisSentinel.start({ replicas: 1 }))],
  ['a Cluster', async () => ofCluster(await RedisCluster.shared())],
];

describe.each(SERVERS)('A program that polls with SET NX, on %s,', (_, start) => {
  let servers: Servers;
  let clients: (Redis | Cluster)[];

  beforeAll(async () => void (servers = await start()));
  beforeEach(() => void (clients = []));
  afterEach(() => clients.forEach(disconnect));
  afterAll(() => servers.stop());

  function open(): Redis | Cluster {
    const client = servers.open();
    clients.push(client);
    return client;
  }

  function service(options?: RedisLockStoreOptions): LockService {
    return new LockService(new RedisLockStore(open(), options), { waitTimeout: 60_000 });
  }

  /** Callers that want the lock again at once, before and while the program polls, until it had its turn. */
  async function besideLoops(processes: readonly LockService[]): Promise<void> {
    const over = new AbortController();
    let grants = 0;
    const work = async () => {
      grants++;
      await new Promise((resolve) => setTimeout(resolve, 5));
    };
    const loop = async (locks: LockService) => {
      while (!over.signal.aborted) await locks.withLock('order:42', work);
    };
    const loops = processes.map(loop);
    await until(() => grants > 10);
    const foreign = open();
    const take = () => foreign.set('lock:order:42', 'theirs', 'PX', 30_000, 'NX');
    await until(async () => (await take()) === 'OK', { every: POLL }).finally(() => over.abort());
    await foreign.del('lock:order:42');
    await Promise.all(loops);
    await Promise.all(processes.map((locks) => locks.close()));
  }

  it.each([8, 0])('gets its turn beside two loops of one process (%d)', async (localPassLimit) => {
    const locks = service({ localPassLimit });
    await besideLoops([locks, locks]);
  });

  it.each([8, 0])('gets its turn beside two processes that loop (%d)', async (localPassLimit) => {
    await besideLoops([service({ localPassLimit }), service({ localPassLimit })]);
  });
});

function ofServer(server: RedisServer): Servers {
  return { open: () => new Redis(server.url), stop: () => server.stop() };
}

function ofSentinel(sentinel: RedisSentinel): Servers {
  return { open: () => new Redis(sentinel.client), stop: () => sentinel.stop() };
}

function ofCluster(cluster: RedisCluster): Servers {
  return { open: () => new Cluster(cluster.startupNodes), stop: () => cluster.stop() };
}
