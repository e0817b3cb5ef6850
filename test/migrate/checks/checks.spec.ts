import { Redis } from 'ioredis';
import { LockService, type LockStore, MemoryLockStore, RedisLockStore } from 'nest-holdfast';
import { checkMigration, MigratingLockStore, migrationStatus } from 'nest-holdfast/migrate';
import { RedisServer } from '../../support/servers/redis-server.js';
import { disconnect } from '../../stores/redis/locks.js';

const clients: Redis[] = [];
const servers: RedisServer[] = [];

async function started(): Promise<RedisServer> {
  const server = await RedisServer.start();
  servers.push(server);
  return server;
}

function storeOn({ url }: RedisServer, keyPrefix = 'lock:'): LockStore {
  const client = new Redis(url, { retryStrategy: () => 50 });
  client.on('error', () => {});
  clients.push(client);
  return new RedisLockStore(client, { keyPrefix });
}

afterAll(async () => {
  clients.forEach(disconnect);
  await Promise.all(servers.map((server) => server.stop()));
});

describe('checkMigration', () => {
  it('finds nothing wrong with two servers, and tells how far their clocks are apart', async () => {
    const [from, to] = [storeOn(await started()), storeOn(await started())];
    const check = await checkMigration({ from, to, largestTtl: 30_000 });
    expect(check).toMatchObject({ ok: true, findings: [] });
    expect(Math.abs(check.skew!)).toBeLessThan(1_000);
  });

  it('finds one place for the locks of both, also through other clients, and no fault with another prefix', async () => {
    const server = await started();
    const [from, to] = [storeOn(server), storeOn(server)];
    const same = await checkMigration({ from, to, largestTtl: 30_000 });
    expect(same).toMatchObject({ ok: false, findings: [{ code: 'SAME_KEYS', severity: 'error' }] });
    const apart = await checkMigration({ from, to: storeOn(server, 'new:'), largestTtl: 30_000 });
    expect(apart.ok).toBe(true);
  });

  it('finds a store that is away, and what the other one lacks', async () => {
    const server = await started();
    const to = storeOn(server);
    await server.stop();
    const check = await checkMigration({
      from: new MemoryLockStore(),
      to,
      largestTtl: 1,
      timeout: 500,
    });
    expect(check).toMatchObject({ ok: false, findings: [{ code: 'UNREACHABLE' }] });
    const bare: LockStore = {
      name: 'bare',
      supports: { fencing: true, ttl: true },
      tryAcquire: async () => ({
        fencingToken: 1n,
        extend: async () => true,
        release: async () => true,
      }),
    };
    const lost = await checkMigration({ from: new MemoryLockStore(), to: bare, largestTtl: 1 });
    expect(lost.ok).toBe(true);
    expect(lost.findings.map(({ message }) => message)).toContain('"bare" has no read locks');
  });
});

describe('migrationStatus', () => {
  it('names the locks that are in the source alone, until their holders have left', async () => {
    const [one, other] = [await started(), await started()];
    await using old = closing(new LockService(storeOn(one)));
    const [from, to] = [storeOn(one), storeOn(other)];
    const store = new MigratingLockStore({
      from: storeOn(one),
      to: storeOn(other),
      phase: 'dual',
      largestTtl: 30_000,
    });
    await using dual = closing(new LockService(store));
    await using forgotten = await old.service.acquire('a');
    await using paired = await dual.service.acquire('b');
    const before = await migrationStatus({ from, to, settle: 10 });
    expect(before).toMatchObject({ isPaired: false, from: 2, to: 1, unpaired: [{ key: 'a' }] });
    await forgotten.release();
    expect(await migrationStatus({ from, to, settle: 10 })).toMatchObject({
      isPaired: true,
      from: 1,
      to: 1,
    });
    await paired.release();
  });
});

function closing(service: LockService) {
  return { service, [Symbol.asyncDispose]: () => service.close() };
}
