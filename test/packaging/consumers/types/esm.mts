import { Injectable, Module } from '@nestjs/common';
import express from 'express';
import { Redis } from 'ioredis';
import {
  DistributedLock,
  DistributedLockModule,
  type LockOptions,
  LockService,
} from 'nest-holdfast';
import { MemoryLockStore, RedisLockStore } from 'nest-holdfast/core';
import { lockDashboard, LockDashboardModule } from 'nest-holdfast/dashboard';
import { EtcdLockStore } from 'nest-holdfast/etcd';
import { lockRequest } from 'nest-holdfast/express';
import { FencingGate } from 'nest-holdfast/fencing';
import { RedlockStore } from 'nest-holdfast/redlock';
import { SqlLockStore } from 'nest-holdfast/sql';
import { FakeClock } from 'nest-holdfast/testing';
import { ZooKeeperLockStore } from 'nest-holdfast/zookeeper';

@Injectable()
export class OrdersService {
  constructor(private readonly locks: LockService) {}

  @DistributedLock('order:<id>')
  async pay(id: string, amount: number): Promise<string> {
    return this.locks.withLock(`customer:${id}`, async (lock) => `${lock.fencingToken} ${amount}`);
  }

  @DistributedLock((id: string) => `order:${id}`, { ttl: 5_000 })
  async cancel(id: string): Promise<void> {}

  // @ts-expect-error the key function takes a number
  @DistributedLock((id: number) => `order:${id}`)
  async refund(id: string): Promise<void> {}

  // @ts-expect-error a method that returns no promise cannot be locked
  @DistributedLock('order:<id>')
  peek(id: string): number {
    return id.length;
  }
}

@Module({ imports: [DistributedLockModule.forRoot({})], providers: [OrdersService] })
export class AppModule {}

const options: LockOptions = { ttl: 5_000, waitTimeout: 1_000 };
export const inRedis = new LockService(
  new RedisLockStore(new Redis({ lazyConnect: true })),
  options,
);
export const inMemory = new LockService(new MemoryLockStore(), { clock: new FakeClock() });

// @ts-expect-error milliseconds are numbers
export const wrong: LockOptions = { ttl: '5s' };

export const app = express();
app.post(
  '/orders/:id',
  lockRequest('order:<params.id>', { locks: inMemory }),
  (_request, response) => {
    response.end();
  },
);

export const stores = [
  new EtcdLockStore({ hosts: 'http://localhost:2379' }),
  new RedlockStore([new MemoryLockStore(), new MemoryLockStore(), new MemoryLockStore()]),
  new SqlLockStore({ postgres: { query: async () => ({ rows: [] }) } }, { listen: false }),
  new ZooKeeperLockStore('localhost:2181'),
].map((store) => new LockService(store));

export const gate = new FencingGate();

class AdminGuard {
  canActivate(): boolean {
    return true;
  }
}

@Module({ imports: [LockDashboardModule.forRoot({ guards: [AdminGuard] })] })
export class PageModule {}

// @ts-expect-error no guard is named
LockDashboardModule.forRoot({});

export const page = express().use(
  '/locks',
  lockDashboard({
    locks: new LockService(new MemoryLockStore()),
    authorize: (request: express.Request) => request.ip === '::1' && { actor: 'admin' },
    actions: ['release'],
  }),
);
