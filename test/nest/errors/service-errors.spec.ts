import { Controller, Get, Injectable, Param } from '@nestjs/common';
import { DistributedLock, LockKeyError, LockService } from 'nest-holdfast';
import { ADAPTERS, startApp } from '../support/test-app.js';
import { openTransport } from '../transports/support/transport-app.js';
import { PRIVATE } from '../transports/support/troubles.js';

const AT_ONCE = { waitTimeout: 0 };

@Injectable()
class OrdersService {
  constructor(readonly locks: LockService) {}

  @DistributedLock('order:<id>', AT_ONCE)
  async pay(id: string) {
    return `paid ${id}`;
  }

  async refund(id: string) {
    return this.locks.withLock(`order:${id}`, AT_ONCE, async () => `refunded ${id}`);
  }

  @DistributedLock('order:<order.id>', AT_ONCE)
  async ship(order: { readonly id?: string }) {
    return order;
  }

  @DistributedLock('order:lost')
  async lose() {
    throw new Error('of the work');
  }
}

/** As the README shows it: the service locks, and its controller only calls it. */
@Controller('orders')
class OrdersController {
  constructor(readonly orders: OrdersService) {}

  @Get(':id/pay')
  async pay(@Param('id') id: string) {
    return this.orders.pay(id);
  }

  @Get(':id/refund')
  async refund(@Param('id') id: string) {
    return this.orders.refund(id);
  }

  @Get('ship')
  async ship() {
    return this.orders.ship({});
  }

  @Get('fail')
  async fail() {
    return this.orders.lose();
  }

  @Get(':id/caught')
  async caught(@Param('id') id: string) {
    try {
      return await this.orders.pay(id);
    } catch (error) {
      return { caught: (error as Error).constructor.name };
    }
  }
}

const parts = { controllers: [OrdersController], providers: [OrdersService] };
const BUSY = { statusCode: 409, code: 'LOCK_TIMEOUT', message: 'The lock is held' };

describe.each(ADAPTERS)('a locked service that a controller calls, on %s', (adapter) => {
  it.each(['pay', 'refund'])('is 503 where the service is being drained: %s', async (action) => {
    await using app = await startApp({ ...parts, adapter });
    await app.locks.drain();
    const { body } = await app.http
      .get(`/orders/7/${action}`)
      .expect(503)
      .expect('retry-after', /^[12]$/);
    expect(body).toMatchObject({ statusCode: 503, code: 'LOCK_DRAINING' });
  });

  it.each(['pay', 'refund'])('is 409 where the key is held: %s', async (action) => {
    await using app = await startApp({ ...parts, adapter });
    await app.elsewhere.withLock('order:7', async () => {
      const { body } = await app.http
        .get(`/orders/7/${action}`)
        .expect(409)
        .expect('retry-after', /^[12]$/);
      expect(body).toEqual(BUSY);
    });
    await app.http.get(`/orders/7/${action}`).expect(200);
  });

  it('is 503 where the store fails, and says nothing of it', async () => {
    await using transport = await openTransport({ ...parts, adapter });
    transport.control.failing('order:7', new Error(PRIVATE));
    const { body } = await transport.http.get('/orders/7/pay').expect(503);
    expect(body).toEqual({
      statusCode: 503,
      code: 'LOCK_STORE_FAILED',
      message: 'The lock store is not available',
    });
  });

  it('is 400 where its key cannot be made', async () => {
    await using app = await startApp({ ...parts, adapter });
    const { body } = await app.http.get('/orders/ship').expect(400);
    expect(body).toMatchObject({ statusCode: 400, code: 'LOCK_KEY_INVALID' });
  });

  it('is as the module says', async () => {
    const lockOptions = { http: { busyStatus: 423, retryAfter: 30 } };
    await using app = await startApp({ ...parts, adapter, lockOptions });
    await app.elsewhere.withLock('order:7', async () => {
      await app.http
        .get('/orders/7/pay')
        .expect(423)
        .expect('retry-after', /^(3|4|5|6)\d$/);
    });
  });

  it('is 500 with http: false, as any other error', async () => {
    await using app = await startApp({ ...parts, adapter, lockOptions: { http: false } });
    await app.elsewhere.withLock('order:7', async () => {
      await app.http.get('/orders/7/pay').expect(500);
    });
  });
});

it('a service rejects with the error of the lock itself, which its caller may catch', async () => {
  await using app = await startApp(parts);
  await app.elsewhere.withLock('order:7', async () => {
    await app.http.get('/orders/7/caught').expect(200, { caught: 'LockTimeoutError' });
    await expect(app.get(OrdersService).ship({})).rejects.toBeInstanceOf(LockKeyError);
  });
});

it('errors of the work are as they were', async () => {
  await using app = await startApp(parts);
  await app.http.get('/orders/fail').expect(500);
});

describe('http: { exposeKey: true }', () => {
  it('tells the key, and nothing else of the lock', async () => {
    await using app = await startApp({ ...parts, lockOptions: { http: { exposeKey: true } } });
    await app.elsewhere.withLock('order:7', async () => {
      const { body } = await app.http.get('/orders/7/pay').expect(409);
      expect(body).toEqual({ ...BUSY, key: 'order:7' });
    });
  });

  it('is for those who want it: no body has the key without', async () => {
    await using app = await startApp(parts);
    await app.elsewhere.withLock('order:7', async () => {
      const { text } = await app.http.get('/orders/7/pay').expect(409);
      expect(text).not.toContain('order:7');
      expect(text).not.toContain('another caller');
    });
  });
});
