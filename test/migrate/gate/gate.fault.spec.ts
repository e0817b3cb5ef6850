import { Redis } from 'ioredis';
import { LockService, type LockStore, MemoryLockStore, RedisLockStore } from 'nest-holdfast';
import { MigratingLockStore, type MigrationErrorCode } from 'nest-holdfast/migrate';
import { RedlockStore } from 'nest-holdfast/redlock';
import { RedisServer } from '../../support/servers/redis-server.js';
import { until } from '../../support/until.js';
import { disconnect } from '../../stores/redis/locks.js';

const LARGEST_TTL = 2_000;

let servers: RedisServer[];
let clients: Redis[];
let services: LockService[];

beforeEach(async () => {
  servers = await Promise.all([0, 1, 2].map(() => RedisServer.start()));
  for (const server of servers)
    await server.command('ACL', 'SETUSER', 'old', 'on', '>secret', '~*', '&*', '+@all');
  clients = [];
  services = [];
});

afterEach(async () => {
  await Promise.all(services.map((service) => service.close()));
  clients.forEach(disconnect);
  await Promise.all(servers.map((server) => server.stop()));
});

/** A store by the credential of the old configuration. */
function oldStore({ port }: RedisServer): RedisLockStore {
  const client = new Redis({ port, username: 'old', password: 'secret', retryStrategy: () => 50 });
  client.on('error', () => {});
  clients.push(client);
  return new RedisLockStore(client);
}

/** Of a process with the target alone. */
function locksOf(from: LockStore): LockService {
  const to = new MemoryLockStore();
  const store = new MigratingLockStore({ from, to, phase: 'to', largestTtl: LARGEST_TTL });
  const service = new LockService(store);
  services.push(service);
  return service;
}

/** Why no lock is granted. `undefined`: one was. */
async function refusalOf(locks: LockService): Promise<MigrationErrorCode | undefined> {
  try {
    const lock = await locks.tryAcquire('order:42');
    await lock?.release();
    return undefined;
  } catch (error) {
    const { code, cause } = error as { code: string; cause?: { code: MigrationErrorCode } };
    expect(code).toBe('LOCK_STORE_FAILED');
    return cause!.code;
  }
}

async function deleteOld(...which: readonly RedisServer[]): Promise<void> {
  await Promise.all(which.map((server) => server.command('ACL', 'DELUSER', 'old')));
}

describe('the target alone', () => {
  it('grants nothing while the old credential works, nor before it has been refused for the largest ttl', async () => {
    const locks = locksOf(oldStore(servers[0]!));
    for (let times = 0; times < 3; times++)
      expect(await refusalOf(locks)).toBe('LOCK_MIGRATE_FROM_OPEN');
    const deletedAt = performance.now();
    await deleteOld(servers[0]!);
    const seen = new Set<string | undefined>();
    await until(async () => {
      const refusal = await refusalOf(locks);
      seen.add(refusal);
      return refusal === undefined;
    });
    expect(performance.now() - deletedAt).toBeGreaterThanOrEqual(LARGEST_TTL);
    expect(seen).toContain('LOCK_MIGRATE_BARRIER');
    expect(await refusalOf(locks)).toBeUndefined();
  });

  it('begins to count anew when the old credential works again', async () => {
    const locks = locksOf(oldStore(servers[0]!));
    await deleteOld(servers[0]!);
    await until(async () => (await refusalOf(locks)) === 'LOCK_MIGRATE_BARRIER');
    await servers[0]!.command('ACL', 'SETUSER', 'old', 'on', '>secret', '~*', '&*', '+@all');
    await until(async () => (await refusalOf(locks)) === 'LOCK_MIGRATE_FROM_OPEN');
    const deletedAt = performance.now();
    await deleteOld(servers[0]!);
    await until(async () => (await refusalOf(locks)) === undefined);
    expect(performance.now() - deletedAt).toBeGreaterThanOrEqual(LARGEST_TTL);
  });

  it('does not take a server that is away for one that refuses', async () => {
    const store = oldStore(servers[0]!);
    await servers[0]!.stop();
    const locks = locksOf(store);
    expect(await refusalOf(locks)).toBe('LOCK_MIGRATE_FROM_UNKNOWN');
  });

  it('waits until no majority of the old nodes is left', async () => {
    const nodes = servers.map(oldStore);
    const locks = locksOf(new RedlockStore(nodes, { nodeTimeout: 60_000, quarantine: false }));
    expect(await refusalOf(locks)).toBe('LOCK_MIGRATE_FROM_OPEN');
    await deleteOld(servers[0]!);
    expect(await refusalOf(locks)).toBe('LOCK_MIGRATE_FROM_OPEN');
    await deleteOld(servers[1]!);
    await until(async () => (await refusalOf(locks)) === 'LOCK_MIGRATE_BARRIER');
    await until(async () => (await refusalOf(locks)) === undefined);
  });
});

describe('MigratingLockStore.ready', () => {
  it('rejects at once where the old credential works', async () => {
    const from = oldStore(servers[0]!);
    const to = new MemoryLockStore();
    const store = new MigratingLockStore({ from, to, phase: 'to', largestTtl: LARGEST_TTL });
    await expect(store.ready()).rejects.toMatchObject({ code: 'LOCK_MIGRATE_FROM_OPEN' });
    await store.close();
  });

  it('rejects for two stores with one prefix on one server, whatever their clients', async () => {
    const [from, to] = [oldStore(servers[0]!), oldStore(servers[0]!)];
    const store = new MigratingLockStore({ from, to, phase: 'dual', largestTtl: LARGEST_TTL });
    await expect(store.ready()).rejects.toMatchObject({ code: 'LOCK_MIGRATE_SAME_KEYS' });
    const locks = new LockService(store);
    services.push(locks);
    expect(await refusalOf(locks)).toBe('LOCK_MIGRATE_SAME_KEYS');
    const apart = new RedisLockStore(clients.at(-1)!, { keyPrefix: 'new:' });
    await new MigratingLockStore({ from, to: apart, phase: 'dual', largestTtl: 1 }).ready();
  });
});
