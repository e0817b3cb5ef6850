import { type CanActivate, Controller, Get, Injectable, Param, UseGuards } from '@nestjs/common';
import { CurrentLock, DistributedLock, type Lock, LockService } from 'nest-holdfast';
import { startApp, type TestApp } from '../support/test-app.js';

@Injectable()
class Guard implements CanActivate {
  seen: (string | undefined)[] = [];

  constructor(private readonly locks: LockService) {}

  canActivate(): boolean {
    this.seen.push(this.locks.current()?.key);
    return true;
  }
}

@Injectable()
class Stock {
  constructor(readonly locks: LockService) {}

  async whoHolds() {
    await Promise.resolve();
    return this.locks.current()?.key;
  }

  @DistributedLock('stock:<sku>')
  async both(sku: string, order: string) {
    const { locks } = this;
    return [locks.current(), locks.current(`order:${order}`), locks.current(`stock:${sku}`)];
  }
}

@Controller()
@UseGuards(Guard)
class OrdersController {
  last: Lock | undefined;

  constructor(
    private readonly stock: Stock,
    private readonly locks: LockService,
  ) {}

  @Get('inside/:id')
  @DistributedLock('order:<id>')
  async inside(@Param('id') id: string, @CurrentLock() lock?: Lock) {
    this.last = lock;
    return { id, key: lock?.key, service: await this.stock.whoHolds(), held: lock?.isHeld };
  }

  @Get('only')
  @DistributedLock('only')
  async only(@CurrentLock() lock?: Lock) {
    return { token: String(lock?.fencingToken) };
  }

  @Get('before/:id')
  @DistributedLock('order:<request.params.id>', { before: 'pipes' })
  async before(@CurrentLock() lock: Lock | undefined, @Param('id') id: string) {
    return { id, key: lock?.key };
  }

  @Get('none')
  async none() {
    return { key: this.locks.current()?.key ?? 'none' };
  }
}

describe('the lock inside the work', () => {
  let app: TestApp;

  beforeAll(async () => {
    app = await startApp({ controllers: [OrdersController], providers: [Stock, Guard] });
  });
  afterAll(() => app[Symbol.asyncDispose]());

  it('is handed to a @CurrentLock parameter and known to everything that the work calls', async () => {
    const { body } = await app.http.get('/inside/7').expect(200);
    expect(body).toEqual({ id: '7', key: 'order:7', service: 'order:7', held: true });
  });

  it('is handed to a handler that takes nothing else', async () => {
    const { body } = await app.http.get('/only').expect(200);
    expect(body.token).toMatch(/^\d+$/);
  });

  it('is handed to a handler that is locked before its pipes', async () => {
    await app.http.get('/before/7').expect(200, { id: '7', key: 'order:7' });
  });

  it('is unknown to guards, to other requests and after its release', async () => {
    const guard = app.get(Guard);
    guard.seen = [];
    await app.http.get('/inside/7').expect(200);
    await app.http.get('/none').expect(200, { key: 'none' });
    expect(guard.seen).toEqual([undefined, undefined]);
    expect(app.get(OrdersController).last).toMatchObject({ isHeld: false, state: 'released' });
    expect(app.locks.current()).toBeUndefined();
  });

  it('is the innermost one, or the one that is asked for', async () => {
    const stock = app.get(Stock);
    const [innermost, order, sku] = await app.locks.withLock('order:1', () => stock.both('k', '1'));
    expect(innermost?.key).toBe('stock:k');
    expect(order?.key).toBe('order:1');
    expect(sku).toBe(innermost);
  });

  it('is filled in for any argument of the caller', async () => {
    const { key } = await app.get(OrdersController).inside('7', undefined);
    expect(key).toBe('order:7');
  });
});
