import { Test } from '@nestjs/testing';
import { Redis } from 'ioredis';
import { LockService, RedisLockStore } from 'nest-holdfast';
import { OrdersModule, checkOrders } from './orders-app.js';

it('locks in a Nest application under test', async () => {
  const module = await Test.createTestingModule({ imports: [OrdersModule] }).compile();
  const app = module.createNestApplication();
  try {
    await checkOrders(app);
  } finally {
    await app.close();
  }
});

it('takes a client of ioredis 5', () => {
  const client = new Redis({ lazyConnect: true });
  expect(new LockService(new RedisLockStore(client)).storeName).toBe('redis');
});
