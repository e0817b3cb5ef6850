import { createServer } from 'node:tls';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { inspect } from 'node:util';
import { Cluster, Redis, type RedisOptions } from 'ioredis';
import { LockService, type LockStoreError, RedisLockStore } from 'nest-holdfast/core';
import { RedlockStore } from 'nest-holdfast/redlock';
import { freePort } from '../../../support/processes/free-port.js';
import { startReplica } from '../../../support/servers/redis-replica.js';
import { RedisServer } from '../../../support/servers/redis-server.js';
import { until } from '../../../support/until.js';

const HOST = '127.0.0.1';
/** Longer than a test may take: what fails at once does not wait for it. */
const NEVER = 600_000;
const SECRET = 'hunter2-of-redis';

const open: { disconnect(): void }[] = [];
const services: LockService[] = [];

function locksOf(client: Redis | Cluster, storeTimeout: number): LockService {
  open.push(client);
  const locks = new LockService(new RedisLockStore(client), { storeTimeout });
  services.push(locks);
  return locks;
}

/** With a listener of errors, as applications have it. */
function clientOf(options: RedisOptions): Redis {
  const client = new Redis({ host: HOST, ...options });
  client.on('error', () => {});
  return client;
}

async function failureOf(attempt: Promise<unknown>): Promise<LockStoreError> {
  const failed = await attempt.then(
    () => undefined,
    (error: unknown) => error,
  );
  expect(failed).toMatchObject({ code: 'LOCK_STORE_FAILED' });
  return failed as LockStoreError;
}

afterEach(async () => {
  await Promise.all(services.splice(0).map((each) => each.close()));
  for (const client of open.splice(0)) client.disconnect();
});

describe('LOCK_STORE_FAILED says why there is no connection', () => {
  it('without a listener: the address, also where the client has no listener of errors', async () => {
    const port = await freePort();
    jest.spyOn(console, 'error').mockReturnValue(); // of ioredis, which prints errors without a listener
    const client = new Redis({ host: HOST, port });
    const error = await failureOf(locksOf(client, 500).withLock('a', async () => 'ran'));
    const refused = `connect ECONNREFUSED ${HOST}:${port}`;
    expect(error).toMatchObject({ code: 'LOCK_STORE_FAILED', cause: { code: 'ECONNREFUSED' } });
    expect(error.message).toContain(refused);
    expect((error.cause as Error).message).toBe(refused);
    expect(client.listenerCount('error')).toBe(0);
    jest.restoreAllMocks();
  });

  it('the server refuses the password, which is not named', async () => {
    await using server = await RedisServer.start({ args: ['--requirepass', 'another'] });
    const locks = locksOf(clientOf({ port: server.port, password: SECRET }), 500);
    const error = await failureOf(locks.tryAcquire('a'));
    expect(error.message).toMatch(/WRONGPASS|NOAUTH/);
    expect(inspect(error, { depth: 9, showHidden: true })).not.toContain(SECRET);
  });

  it('the server has no memory left', async () => {
    await using server = await RedisServer.start({ args: ['--maxmemory', '1'] });
    const error = await failureOf(locksOf(clientOf({ port: server.port }), 5_000).tryAcquire('a'));
    expect(error.message).toContain('OOM');
  });

  it('TLS fails', async () => {
    const server = createServer({}).listen(0, HOST); // without a certificate, no handshake succeeds
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const client = clientOf({ port, tls: { rejectUnauthorized: false } });
    const error = await failureOf(locksOf(client, 1_000).withLock('a', async () => 'ran'));
    expect(error.message).toMatch(/handshake|SSL|ECONNRESET/);
    server.close();
  });

  it.each([
    [
      'a Cluster',
      (port: number) => new Cluster([{ host: HOST, port }]),
      /ECONNREFUSED|slots cache/,
    ],
    [
      'Sentinels',
      (port: number) => new Redis({ sentinels: [{ host: HOST, port }], name: 'm' }),
      /sentinels are unreachable/,
    ],
  ])('%s cannot be reached', async (_, make, why) => {
    const client = make(await freePort());
    client.on('error', () => {});
    const error = await failureOf(locksOf(client, 1_000).withLock('a', async () => 'ran'));
    expect(error.message).toMatch(why);
  });

  it('the nodes of a Redlock cannot be reached: of each of them', async () => {
    const ports = [await freePort(), await freePort(), await freePort()];
    const clients = ports.map((port) => clientOf({ port }));
    open.push(...clients);
    await until(() => clients.every(({ status }) => status === 'reconnecting'));
    const nodes = clients.map((client) => new RedisLockStore(client));
    const locks = new LockService(new RedlockStore(nodes, { quarantine: false }));
    services.push(locks);
    const error = await failureOf(locks.tryAcquire('a'));
    for (const port of ports) expect(error.message).toContain(`ECONNREFUSED ${HOST}:${port}`);
  });
});

describe('a client that is known to be disconnected', () => {
  it('fails one attempt at once', async () => {
    const client = clientOf({ port: await freePort() });
    const locks = locksOf(client, NEVER);
    await until(() => client.status === 'reconnecting');
    const work = jest.fn();
    for (const attempt of [
      () => locks.tryAcquire('a'),
      () => locks.tryWithLock('a', work),
      () => locks.withLock('a', { waitTimeout: 0 }, work),
      () => locks.withLock(['a', 'b'], { retryCount: 0 }, work),
    ])
      expect((await failureOf(attempt())).message).toContain('ECONNREFUSED');
    expect(work).not.toHaveBeenCalled();
  });

  it('fails it also once its server has gone, and takes locks again when it is back', async () => {
    await using server = await RedisServer.start();
    const client = clientOf({ port: server.port, retryStrategy: () => 50 });
    const locks = locksOf(client, NEVER);
    await locks.withLock('a', async () => {});
    await server.kill();
    await until(() => (client.stream as { errored?: unknown } | null)?.errored !== null);
    await failureOf(locks.tryAcquire('a'));
    await server.restart();
    await until(() => client.status === 'ready');
    expect(await locks.tryWithLock('a', async () => 'ran')).toMatchObject({ acquired: true });
  });

  it('waits for the first connection', async () => {
    await using server = await RedisServer.start();
    for (const lazyConnect of [true, false]) {
      const locks = locksOf(clientOf({ port: server.port, lazyConnect }), 60_000);
      expect(await locks.tryWithLock('a', async () => 'ran')).toMatchObject({ acquired: true });
    }
  });
});

it('the server is a replica that takes no writes: READONLY is named', async () => {
  await using master = await RedisServer.start();
  await using replica = await startReplica(master);
  const locks = locksOf(clientOf({ port: replica.port }), 5_000);
  expect((await failureOf(locks.tryAcquire('a'))).message).toContain('READONLY');
});
