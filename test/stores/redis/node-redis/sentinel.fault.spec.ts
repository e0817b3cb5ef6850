import { LockService, type NodeRedisSentinel, RedisLockStore } from 'nest-holdfast';
import { createSentinel } from 'redis';
import { createSentinel as createSentinel6 } from 'redis6';
import { freePort } from '../../../support/processes/free-port.js';
import { RedisSentinel } from '../../../support/servers/redis-sentinel.js';
import type { RedisServer } from '../../../support/servers/redis-server.js';
import { until } from '../../../support/until.js';
import { standing } from '../../support/app-instance.js';

jest.setTimeout(240_000);

/** Longer than a failover takes. */
const TTL = 60_000;
const WITHIN = { within: 60_000, every: 20 };

type Open = (options: RedisSentinel['nodeRedis']) => NodeRedisSentinel;

const CLIENTS: [string, Open][] = [
  ['node-redis 5', (options) => createSentinel({ ...options, nodeClientOptions: { name: 'app' } })],
  [
    'node-redis 6',
    (options) => createSentinel6({ ...options, nodeClientOptions: { name: 'app' } }),
  ],
];

/** One process of an application. Its client has no listener of errors: one that reached it would end the process. */
class Process implements AsyncDisposable {
  readonly events: string[] = [];
  readonly locks: LockService;

  constructor(readonly client: NodeRedisSentinel) {
    const store = new RedisLockStore(client, { replicas: 1, replicaTimeout: 500 });
    this.locks = new LockService(store, { ttl: TTL, waitTimeout: 200_000 });
    for (const event of ['jeopardy', 'recovered', 'lost'] as const)
      this.locks.events.on(event, () => void this.events.push(event));
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.locks.close();
  }
}

describe.each(CLIENTS)('On Sentinel with %s,', (_, open) => {
  let sentinel: RedisSentinel;

  beforeEach(async () => {
    sentinel = await RedisSentinel.start();
  });

  afterEach(() => sentinel.stop());

  const start = () => new Process(open(sentinel.nodeRedis));

  async function connectionsTo(server: RedisServer): Promise<string[]> {
    const list = String(await server.command('CLIENT', 'LIST'));
    return list.split('\n').filter((line) => line.includes(' name=app '));
  }

  const connections = async (server: RedisServer) => (await connectionsTo(server)).length;

  /** Those on which a command was sent: a Sentinel client of node-redis that is destroyed while it connects leaves an idle one. */
  const used = async (server: RedisServer) =>
    (await connectionsTo(server)).filter((line) => !line.includes(' cmd=NULL ')).length;

  it('a lock whose master crashes is in jeopardy and found again, and those who wait get it in turn', async () => {
    await using holding = start();
    await using first = start();
    await using second = start();
    const lock = await holding.locks.acquire('order:42');
    const tokens: bigint[] = [];
    const waiting: Promise<unknown>[] = [];
    for (const { locks } of [first, second]) {
      const take = ({ fencingToken }: { fencingToken: bigint }) => void tokens.push(fencingToken);
      waiting.push(locks.withLock('order:42', take));
      await standing(sentinel.master, 'order:42', waiting.length);
    }
    await sentinel.crash();
    await until(() => holding.events.includes('recovered'), WITHIN);
    expect(holding.events).toEqual(['jeopardy', 'recovered']);
    expect(tokens).toEqual([]);
    await until(() => standing(sentinel.master, 'order:42', 2).then(() => true), WITHIN);
    expect(await lock.release()).toBe(true);
    await Promise.all(waiting);
    expect(tokens[0]).toBeGreaterThan(lock.fencingToken);
    expect(tokens[1]).toBeGreaterThan(tokens[0]!);
  });

  it('a master that changes its role is left for its successor', async () => {
    await using holding = start();
    await using waiting = start();
    const lock = await holding.locks.acquire('order:42');
    const next = waiting.locks.acquire('order:42');
    await standing(sentinel.master, 'order:42', 1);
    const before = sentinel.master;
    await sentinel.switchOver();
    await until(() => holding.events.includes('recovered'), WITHIN);
    expect(lock.isHeld).toBe(true);
    expect(await lock.release()).toBe(true);
    expect(await (await next).release()).toBe(true);
    expect(sentinel.master).not.toBe(before);
    await until(async () => (await used(before)) === 0, WITHIN);
  });

  it('nothing is left of a store that was closed', async () => {
    const { locks, client } = start();
    const others = start();
    await locks.withLock('warm-up', async () => {});
    await others.locks.withLock('order:42', () =>
      expect(locks.acquire('order:42', { waitTimeout: 300 })).rejects.toMatchObject({
        code: 'LOCK_TIMEOUT',
      }),
    );
    expect(await connections(sentinel.master)).toBeGreaterThan(2);
    await Promise.all([locks.close(), others.locks.close()]);
    await until(async () => (await connections(sentinel.master)) === 0, WITHIN);
    await until(() => !client.isOpen, WITHIN);
  });

  it('a client of the application that is connected stays open, and ends the connections of the store', async () => {
    const client = open(sentinel.nodeRedis);
    await client.connect();
    const connected = await connections(sentinel.master);
    const other = new Process(client);
    await other.locks.withLock('order:42', async () => {});
    await other.locks.close();
    await until(async () => (await connections(sentinel.master)) === connected, WITHIN);
    await using own = new Process(client);
    await own.locks.withLock('order:42', async () => {});
    await client.destroy();
    const tells = 'duplicate' in client; // `redis` 5 does not: the next loss of the connection is the last
    if (!tells) await sentinel.master.command('CLIENT', 'KILL', 'TYPE', 'normal');
    await until(async () => (await connections(sentinel.master)) === 0, WITHIN);
    await expect(own.locks.tryAcquire('order:42')).rejects.toMatchObject({
      code: 'LOCK_STORE_FAILED',
      message: expect.stringMatching(tells ? 'the client was closed' : /./),
    });
  });
});

describe.each(CLIENTS)('Without a sentinel, with %s,', (_, open) => {
  it('the error says so, and closing ends all attempts', async () => {
    const port = await freePort();
    const client = open({ name: 'holdfast', sentinelRootNodes: [{ host: '127.0.0.1', port }] });
    const log = jest.spyOn(console, 'log').mockImplementation(); // where `redis` 5 tells of it
    const own = new Process(client);
    const failed = own.locks.acquire('order:42').catch((error: unknown) => error);
    expect(await failed).toMatchObject({ code: 'LOCK_STORE_FAILED' });
    await own.locks.close();
    await until(() => !client.isOpen, WITHIN);
    log.mockRestore();
  });
});
