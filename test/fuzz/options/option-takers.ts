import 'reflect-metadata';
import { Pool } from 'pg';
import { Redis } from 'ioredis';
import * as root from 'nest-holdfast';
import { lockDashboard } from 'nest-holdfast/dashboard';
import { EtcdLockStore } from 'nest-holdfast/etcd';
import * as express from 'nest-holdfast/express';
import * as fencing from 'nest-holdfast/fencing';
import * as migrate from 'nest-holdfast/migrate';
import { instrumentLocks } from 'nest-holdfast/otel';
import { lockMetrics } from 'nest-holdfast/prometheus';
import { RedlockStore } from 'nest-holdfast/redlock';
import { SqlLockStore, lockTableDdl } from 'nest-holdfast/sql';
import { ZooKeeperLockStore } from 'nest-holdfast/zookeeper';

const { LockService, MemoryLockStore } = root;

/** Gets options that may be anything. The run ends the value that it made. */
type Taker = (options: any) => unknown;

/** Every public function, method and class that takes options. None of them reaches a server. */
export function optionTakers(): Readonly<Record<string, Taker>> {
  return { ...ofServices(), ...ofStores(), ...ofDecorators(), ...ofOthers() };
}

const work = () => Promise.resolve(1);

function ofServices(): Record<string, Taker> {
  const locks = new LockService(new MemoryLockStore(), { ttl: 60_000 });
  const withRelease = async (lock: Promise<root.Lock | undefined>) => (await lock)?.release();
  const leaving = async (scope: Promise<root.LockScope>) => (await scope).leave();
  return {
    LockService: (options) => new LockService(new MemoryLockStore(), options).close(),
    acquire: (options) => withRelease(locks.acquire('a', options)),
    tryAcquire: (options) => withRelease(locks.tryAcquire('b', options)),
    withLock: (options) => locks.withLock('c', options, work),
    tryWithLock: (options) => locks.tryWithLock('d', options, work),
    withPermit: (options) => locks.withPermit('e', options, work),
    enter: (options) => leaving(locks.enter('f', options)),
    enterRequest: (options) => leaving(locks.enterRequest('g', options)),
    extend: (ttl) => locks.withLock('h', (lock) => lock.extend(ttl)),
    list: (options) => locks.list(options),
    evict: (options) => locks.evict('i', options),
    health: (options) => locks.health(options),
    oncePerTick: (options) => root.oncePerTick(locks, 'tick', options, work),
    logLocks: (options) => root.logLocks(locks, console, options)(),
    instrumentLocks: (options) => instrumentLocks(locks, options)(),
    lockMetrics: (options) => lockMetrics(locks, options)(),
  };
}

function ofStores(): Record<string, Taker> {
  const redis = new Redis({ lazyConnect: true, enableOfflineQueue: false });
  const postgres = new Pool({ host: '127.0.0.1', port: 1 });
  const memory = () => new MemoryLockStore();
  const nodes = () => [memory(), memory(), memory()];
  return {
    MemoryLockStore: (clock) => new MemoryLockStore(clock),
    RedisLockStore: (options) => new root.RedisLockStore(redis, options).close(),
    RedlockStore: (options) => new RedlockStore(nodes(), options).close(),
    'the nodes of RedlockStore': (stores) => new RedlockStore(stores).close(),
    SqlLockStore: (options) => new SqlLockStore({ postgres }, options).close(),
    'the client of SqlLockStore': (client) => new SqlLockStore(client).close(),
    lockTableDdl: (options) => lockTableDdl('postgres', options),
    ZooKeeperLockStore: (options) => new ZooKeeperLockStore('127.0.0.1:1', options).close(),
    'the servers of ZooKeeperLockStore': (servers) => new ZooKeeperLockStore(servers).close(),
    EtcdLockStore: (options) => new EtcdLockStore({ hosts: '127.0.0.1:1' }, options).close(),
    'the servers of EtcdLockStore': (servers) => new EtcdLockStore(servers).close(),
    MigratingLockStore: (options) => new migrate.MigratingLockStore(options).close(),
    checkMigration: (options) => migrate.checkMigration(options),
    migrationStatus: (options) => migrate.migrationStatus(options),
    RedisFencingGate: (options) => new fencing.RedisFencingGate(redis, options),
  };
}

function ofDecorators(): Record<string, Taker> {
  const decorate = (decorator: MethodDecorator) => {
    class Orders {
      async pay(id: string): Promise<string> {
        return id;
      }
    }
    const descriptor = Object.getOwnPropertyDescriptor(Orders.prototype, 'pay')!;
    decorator(Orders.prototype, 'pay', descriptor);
  };
  return {
    '@DistributedLock': (options) =>
      decorate(root.DistributedLock('order:<id>', options) as MethodDecorator),
    '@Semaphore': (options) => decorate(root.Semaphore('order:<id>', options) as MethodDecorator),
    '@OncePerTick': (options) => decorate(root.OncePerTick('tick', options) as MethodDecorator),
    '@OnElected': (options) => decorate(root.OnElected('leader', options) as MethodDecorator),
    'DistributedLockModule.forRoot': (options) => root.DistributedLockModule.forRoot(options),
    'DistributedLockModule.forRootAsync': (options) =>
      root.DistributedLockModule.forRootAsync(options),
  };
}

function ofOthers(): Record<string, Taker> {
  const locks = new LockService(new MemoryLockStore());
  const handler = () => undefined;
  return {
    LeaderElection: (options) => new root.LeaderElection(locks, 'leader', options),
    lockRequest: (options) => express.lockRequest('order:<params.id>', options),
    lockHandler: (options) => express.lockHandler('order:<params.id>', options, handler),
    lockErrorHandler: (options) => express.lockErrorHandler(options),
    FencingGate: (options) => new fencing.FencingGate(options),
    fencedRequest: (options) => fencing.fencedRequest('order:<params.id>', options),
    fenceColumnDdl: (options) => fencing.fenceColumnDdl('pg', options),
    lockDashboard: (options) => lockDashboard(options),
  };
}
