import { createServer } from 'node:net';
import type { AddressInfo, Server } from 'node:net';
import { Controller, Injectable, Module, Param, Post } from '@nestjs/common';
import type { INestApplication, ModuleMetadata } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import {
  CurrentLock,
  DistributedLock,
  DistributedLockModule,
  InjectLocks,
  Lock,
  LockLostError,
  LockService,
  LockStoreError,
  LockTimeoutError,
} from 'nest-holdfast';
import { FakeClock, LockControl, LockTestingModule } from 'nest-holdfast/testing';
import supertest from 'supertest';
import { Deferred } from '../nest/support/deferred';

/** The address at which the modules below look for Redis. No connection may ever come. */
let redis: Server;
let connections = 0;
const port = () => (redis.address() as AddressInfo).port;
const url = () => `redis://127.0.0.1:${port()}`;

beforeAll(async () => {
  redis = createServer((socket) => {
    connections++;
    socket.destroy();
  });
  await new Promise<void>((resolve) => redis.listen(0, '127.0.0.1', resolve));
});

afterAll(() => new Promise((resolve) => redis.close(resolve)));

@Injectable()
class Orders {
  end = new Deferred();

  constructor(readonly locks: LockService) {}

  @DistributedLock('order:<id>')
  async pay(id: string, @CurrentLock() lock?: Lock) {
    await this.end.promise;
    return [id, lock?.key];
  }

  @DistributedLock('order:<id>')
  async quick(id: string) {
    return id;
  }
}

@Controller('orders')
class OrdersController {
  @Post(':id/ship')
  @DistributedLock('shipment:<id>')
  async ship(@Param('id') id: string) {
    return { shipped: id };
  }
}

@Injectable()
class Billing {
  constructor(
    @InjectLocks('billing') readonly locks: LockService,
    readonly orders: Orders,
  ) {}

  @DistributedLock('order:<id>', { locks: 'billing' })
  async bill(id: string) {
    return this.orders.quick(id); // the same key, of another instance
  }
}

const PARTS = { controllers: [OrdersController], providers: [Orders, Billing] };

describe.each<[string, () => ModuleMetadata['imports']]>([
  [
    'forRoot',
    () => [
      DistributedLockModule.forRoot({ redis: url(), http: { busyStatus: 423 } }),
      DistributedLockModule.forRoot({ name: 'billing', redis: [url(), url(), url()] }),
    ],
  ],
  [
    'forRootAsync',
    () => [
      DistributedLockModule.forRootAsync({
        useFactory: async () => ({ redis: { port: port() }, http: { busyStatus: 423 } }),
      }),
      DistributedLockModule.forRootAsync({
        name: 'billing',
        isGlobal: true,
        useFactory: () => ({ redis: () => Promise.reject(new Error('it connected')) }),
      }),
    ],
  ],
])('LockTestingModule in an application with %s', (_name, imports) => {
  const control = new LockControl();
  let app: INestApplication;
  let orders: Orders;

  beforeAll(async () => {
    @Module({ imports: imports()!, ...PARTS })
    class AppModule {}

    const testing = await Test.createTestingModule({
      imports: [AppModule, LockTestingModule.forRoot(control)],
    }).compile();
    app = testing.createNestApplication({ logger: false });
    await app.listen(0, '127.0.0.1');
    orders = app.get(Orders);
  });

  beforeEach(() => {
    orders.end = new Deferred();
  });

  afterEach(() => control.reset());

  afterAll(async () => {
    await app.close();
    expect(connections).toBe(0);
  });

  const ship = (id: string) => supertest(app.getHttpServer() as never).post(`/orders/${id}/ship`);

  it('locks really, in memory', async () => {
    expect(orders.locks.storeName).toBe('testing');
    const calls = [orders.pay('42'), orders.pay('42')];
    await control.untilHeld('order:42');
    await control.untilWaiting('order:42');
    expect(control.held()).toEqual(['order:42']);
    orders.end.resolve();
    expect(await Promise.all(calls)).toEqual(calls.map(() => ['42', 'order:42']));
  });

  it('busy: the method does not run', async () => {
    control.busy('order:42');
    await expect(orders.pay('42')).rejects.toThrow(LockTimeoutError);
    expect(await orders.quick('43')).toBe('43');
  });

  it('busy: a handler answers as its application is told to', async () => {
    const busy = control.busy('shipment:7');
    const refused = await ship('7').expect(423);
    expect(refused.body).toMatchObject({ code: 'LOCK_TIMEOUT' });
    expect(refused.headers['retry-after']).toMatch(/^[12]$/);
    busy.release();
    await ship('7').expect(201, { shipped: '7' });
  });

  it('hold: the method waits', async () => {
    const elsewhere = control.hold('shipment:7');
    const answer = ship('7').then(({ status }) => status);
    await control.untilWaiting('shipment:7');
    elsewhere.release();
    expect(await answer).toBe(201);
  });

  it('lose: the work is told, and does not look successful', async () => {
    const paid = orders.pay('42');
    await control.untilHeld('order:42');
    control.lose('order:42');
    orders.end.resolve();
    await expect(paid).rejects.toThrow(LockLostError);
    control.lose('shipment:7');
    await ship('7').expect(500);
    await ship('7').expect(201);
  });

  it('failing: the store is down', async () => {
    control.failing();
    await expect(orders.pay('42')).rejects.toThrow(LockStoreError);
    await ship('7').expect(503);
  });

  it('keeps named instances apart, and commands them all', async () => {
    const billing = app.get(Billing);
    expect(billing.locks).not.toBe(orders.locks);
    expect(await billing.bill('42')).toBe('42');
    control.busy('order:42');
    await expect(billing.bill('42')).rejects.toThrow(LockTimeoutError);
    control.free();
    control.lose('order:42');
    await expect(billing.bill('42')).rejects.toThrow(LockLostError);
  });
});

describe('LockTestingModule', () => {
  it('makes a control where it is given none', async () => {
    @Module({
      imports: [DistributedLockModule.forRoot({ redis: url() })],
      providers: [Orders],
    })
    class AppModule {}
    const testing = await Test.createTestingModule({
      imports: [AppModule, LockTestingModule.forRoot()],
    }).compile();
    testing.get(LockControl).busy('order:42');
    await expect(testing.get(Orders).quick('42')).rejects.toThrow(LockTimeoutError);
    await testing.close();
  });

  it('brings its clock', async () => {
    const clock = new FakeClock();
    const testing = await Test.createTestingModule({
      imports: [
        DistributedLockModule.forRoot({ redis: url(), maxHold: 60_000 }),
        LockTestingModule.forRoot(new LockControl({ clock })),
      ],
      providers: [Orders],
    }).compile();
    const orders = testing.get(Orders);
    const paid = orders.pay('42');
    paid.catch(() => undefined);
    await testing.get(LockControl).untilHeld('order:42');
    await clock.advance(60_000);
    orders.end.resolve();
    await expect(paid).rejects.toMatchObject({ reason: 'max-hold' });
    await testing.close();
  });

  it('goes by the clock of the options where it has none', async () => {
    const clock = new FakeClock();
    const control = new LockControl();
    const testing = await Test.createTestingModule({
      imports: [DistributedLockModule.forRoot({ clock }), LockTestingModule.forRoot(control)],
    }).compile();
    await testing.get(LockService).acquire('order:42', { ttl: 1_000, autoExtend: false });
    expect(control.held()).toEqual(['order:42']);
    await clock.advance(1_000);
    expect(control.held()).toEqual([]);
    await testing.close();
  });

  it('leaves applications beside it alone', async () => {
    const imports = [DistributedLockModule.forRoot({ enabled: false })];
    const [controlled, other] = await Promise.all([
      Test.createTestingModule({ imports: [...imports, LockTestingModule.forRoot()] }).compile(),
      Test.createTestingModule({ imports }).compile(),
    ]);
    expect(controlled.get(LockService).storeName).toBe('testing');
    expect(other.get(LockService).storeName).toBe('disabled');
    await Promise.all([controlled.close(), other.close()]);
  });

  it('says how it is imported', async () => {
    const imports = [LockTestingModule];
    await expect(Test.createTestingModule({ imports }).compile()).rejects.toThrow(
      /LockTestingModule\.forRoot\(control\)/,
    );
  });
});
