import { Test } from '@nestjs/testing';
import {
  DistributedLock,
  DistributedLockModule,
  LeaderElection,
  LockService,
  logLocks,
  MemoryLockStore,
  OnElected,
  OncePerTick,
  oncePerTick,
  RedisLockStore,
  Semaphore,
} from 'nest-holdfast';
import { lockDashboard, LockDashboardModule } from 'nest-holdfast/dashboard';
import { EtcdLockStore } from 'nest-holdfast/etcd';
import { lockErrorHandler, lockRequest } from 'nest-holdfast/express';
import { fenced, fencedRequest, FencingGate, RedisFencingGate } from 'nest-holdfast/fencing';
import { FencingGuard } from 'nest-holdfast';
import {
  checkMigration,
  copyRedisLocks,
  MigratingLockStore,
  migrationStatus,
  settleRedisCopy,
} from 'nest-holdfast/migrate';
import { instrumentLocks } from 'nest-holdfast/otel';
import { lockMetrics } from 'nest-holdfast/prometheus';
import { RedlockStore } from 'nest-holdfast/redlock';
import { lockTableDdl, SqlLockStore } from 'nest-holdfast/sql';
import { LockHealthIndicator } from 'nest-holdfast/terminus';
import { LockControl, lockStoreConformance } from 'nest-holdfast/testing';
import { ZooKeeperLockStore } from 'nest-holdfast/zookeeper';

/** A function that takes options of a type, and the options that it needs. */
export interface OptionTaker {
  /** Throws or rejects for options that it does not take. */
  readonly take: (options: never) => unknown;
  readonly needs?: object;
}

const client = { evalsha: async () => 1, eval: async () => 1, wait: async () => 0 };
const node = () => new RedisLockStore(client);
const locks = new LockService(new MemoryLockStore());
const gate = new FencingGate();
const holder = { key: 'a', fencingToken: 1n };
const postgres = { query: async () => ({ rows: [] }) };
const admin = { call: async () => null };
const servers = { from: admin, to: admin, user: 'locks' };
const HOSTS = { hosts: '127.0.0.1:1' };
const work = async () => undefined;

/** As TypeScript applies a decorator, to a method of a class of its own. */
function decorate(decorator: MethodDecorator): void {
  class Service {
    async run() {}
  }
  const descriptor = Object.getOwnPropertyDescriptor(Service.prototype, 'run')!;
  decorator(Service.prototype, 'run', descriptor);
}

function decoratorTaker(make: (options: never) => unknown): OptionTaker['take'] {
  return (options) => decorate(make(options) as MethodDecorator);
}

async function startModule(options: object): Promise<void> {
  const imports = [DistributedLockModule.forRoot(options)];
  const testing = await Test.createTestingModule({ imports }).compile();
  await testing.close();
}

const calls: readonly OptionTaker[] = [
  { take: (options) => locks.withLock('a', options, work) },
  { take: (options) => locks.tryWithLock('a', options, work) },
  { take: (options) => locks.acquire('a', options) },
  { take: (options) => locks.tryAcquire('a', options) },
  { take: (options) => locks.enter('a', options) },
];

/** By the name of the type. */
export const TAKERS: Readonly<Record<string, readonly OptionTaker[]>> = {
  LockOptions: calls,
  PermitOptions: [
    { take: (options) => locks.withPermit('a', options, work), needs: { permits: 1 } },
  ],
  LockListOptions: [{ take: (options) => locks.list(options) }],
  LockDefaults: [{ take: (options) => new LockService(new MemoryLockStore(), options) }],
  LockLogOptions: [
    { take: (options) => logLocks(locks, console, options) },
    { take: (logs) => startModule({ logs }) },
  ],
  LockHealthOptions: [{ take: (options) => locks.health(options) }],
  LockHealthIndicatorOptions: [
    { take: (options) => new LockHealthIndicator(locks).isHealthy('a', options) },
  ],
  InstrumentLocksOptions: [{ take: (options) => instrumentLocks(locks, options) }],
  LockMetricsOptions: [{ take: (options) => lockMetrics(locks, options) }],
  LockServiceOptions: [{ take: (options) => new LockService(new MemoryLockStore(), options) }],
  DistributedLockOptions: [{ take: decoratorTaker((options) => DistributedLock('a', options)) }],
  SemaphoreOptions: [
    { take: decoratorTaker((options) => Semaphore('a', options)), needs: { permits: 1 } },
  ],
  OnElectedOptions: [{ take: decoratorTaker((options) => OnElected('a', options)) }],
  OncePerTickOptions: [{ take: decoratorTaker((options) => OncePerTick('a', options)) }],
  DistributedLockModuleOptions: [
    { take: startModule },
    {
      take: async (options) => {
        const imports = [DistributedLockModule.forRootAsync({ useFactory: () => options })];
        await (await Test.createTestingModule({ imports }).compile()).close();
      },
    },
  ],
  CheckMigrationOptions: [
    {
      take: (options) => checkMigration(options),
      needs: { from: new MemoryLockStore(), to: new MemoryLockStore(), largestTtl: 1_000 },
    },
  ],
  MigrationStatusOptions: [
    {
      take: (options) => migrationStatus(options),
      needs: { from: new MemoryLockStore(), to: new MemoryLockStore() },
    },
  ],
  RedisCopyOptions: [
    { take: (options) => copyRedisLocks(options), needs: { ...servers, move: () => undefined } },
  ],
  RedisCopyServers: [{ take: (options) => settleRedisCopy(options), needs: servers }],
  ModuleMigrationOptions: [
    {
      take: (migrate: object) => startModule({ migrate }),
      needs: {
        from: { store: new MemoryLockStore() },
        to: { store: new MemoryLockStore() },
        phase: 'dual',
        largestTtl: 1_000,
      },
    },
  ],
  MigrationSideOptions: [
    {
      take: (to: object) =>
        startModule({
          migrate: { from: { store: new MemoryLockStore() }, to, phase: 'dual', largestTtl: 1_000 },
        }),
      needs: { store: new MemoryLockStore() },
    },
  ],
  DistributedLockModuleExtras: [
    { take: startModule },
    {
      take: (options: object) => DistributedLockModule.forRootAsync(options),
      needs: { useFactory: () => ({}) },
    },
  ],
  LockErrorOptions: [
    { take: (options) => lockErrorHandler(options) },
    { take: (http) => startModule({ http }) },
  ],
  LockRequestOptions: [{ take: (options) => lockRequest('a', options), needs: { locks } }],
  RedisLockStoreOptions: [{ take: (options) => new RedisLockStore(client, options) }],
  RedlockStoreOptions: [{ take: (options) => new RedlockStore([node(), node(), node()], options) }],
  MigratingLockStoreOptions: [
    {
      take: (options) => new MigratingLockStore(options),
      needs: {
        from: new MemoryLockStore(),
        to: new MemoryLockStore(),
        phase: 'dual',
        largestTtl: 1_000,
      },
    },
  ],
  EtcdLockStoreOptions: [{ take: (options) => new EtcdLockStore(HOSTS, options) }],
  EtcdServers: [{ take: (options) => new EtcdLockStore(options), needs: HOSTS }],
  EtcdCredentials: [
    {
      take: (credentials) => new EtcdLockStore({ ...HOSTS, credentials }),
      needs: { rootCertificate: 'a' },
    },
  ],
  ZooKeeperLockStoreOptions: [{ take: (options) => new ZooKeeperLockStore('a:1', options) }],
  ZooKeeperAuth: [
    {
      take: (auth) => new ZooKeeperLockStore('a:1', { auth }),
      needs: { scheme: 'digest', credential: 'user:password' },
    },
  ],
  ZooKeeperAcl: [
    {
      take: (entry) => new ZooKeeperLockStore('a:1', { acl: [entry] }),
      needs: { scheme: 'world', id: 'anyone', permissions: 'all' },
    },
  ],
  SqlLockStoreOptions: [{ take: (options) => new SqlLockStore({ postgres }, options) }],
  TableName: [{ take: (options) => lockTableDdl('postgres', options) }],
  LeaderElectionOptions: [{ take: (options) => new LeaderElection(locks, 'a', options) }],
  TickOptions: [
    { take: (options) => oncePerTick(locks, 'a', options, work), needs: { every: 60_000 } },
  ],
  FencingGateOptions: [{ take: (options) => new FencingGate(options) }],
  FencingRunOptions: [{ take: (options) => gate.run(holder, work, options) }],
  RedisFencingGateOptions: [{ take: (options) => new RedisFencingGate(client, options) }],
  RequestFenceOptions: [{ take: (options) => new FencingGuard('a', options), needs: { gate } }],
  FencedRequestOptions: [{ take: (options) => fencedRequest('a', options), needs: { gate } }],
  FencedPgOptions: [{ take: (options) => fenced.pg(holder, options) }],
  FenceColumnOptions: [
    { take: (options) => fenced.mysql(holder, options) },
    { take: (options) => fenced.knex(holder, options) },
    { take: (options) => fenced.typeorm(holder, options) },
    { take: (options) => fenced.prisma(holder, options) },
  ],
  LockDrainOptions: [
    {
      take: (options) => new LockService(new MemoryLockStore()).drain(options),
      needs: { within: 0 },
    },
  ],
  LockEvictOptions: [
    { take: (options) => locks.evict('a', options), needs: { fencingToken: 1n, grace: 0 } },
  ],
  LockDashboardOptions: [
    { take: (options) => lockDashboard(options), needs: { locks, authorize: () => true } },
  ],
  LockDashboardModuleOptions: [
    { take: (options) => LockDashboardModule.forRoot(options), needs: { guards: [class {}] } },
  ],
  LockControlOptions: [{ take: (options) => new LockControl(options) }],
  ConformanceOptions: [
    {
      take: (options) => lockStoreConformance(options),
      needs: { test: () => undefined, createStore: () => new MemoryLockStore() },
    },
  ],
};

/** Types that look like options, but are foreign or no argument. The source of a Cluster is of ioredis, but for `cluster`. */
export const NO_OPTIONS = [
  'MigrationCheck',
  'LockLogger',
  'LockHealth',
  'RedisClusterSource',
  'ResolvedLockOptions',
  'NodeRedisClient',
  'RedisClient',
  'RedisGateClient',
  'PostgresListenerClient',
  'SqliteClient',
  'ExpressRequest',
  'ExpressResponse',
  'Clock',
  'LockStore',
  'LockStoreFeatures',
  'AcquireRequest',
  'Lease',
  'LockInspection',
  'LockListQuery',
  'LockAcquireTrace',
  'LockHoldTrace',
  'LockPage',
  'EvictRequest',
  'HolderAnswer',
  'TakenKey',
  'StoreDoubt',
];
