import { Controller, Get, Injectable, Logger, Module } from '@nestjs/common';
import { APP_INTERCEPTOR } from '@nestjs/core';
import { Test } from '@nestjs/testing';
import {
  DistributedLock,
  DistributedLockInterceptor,
  DistributedLockModule,
  type DistributedLockModuleOptions,
  getLockClientToken,
  getLocksToken,
  InjectLocks,
  LockService,
  MemoryLockStore,
} from 'nest-holdfast';
import { FencingGate } from 'nest-holdfast/fencing';
import { FakeClock } from 'nest-holdfast/testing';
import supertest from 'supertest';
import { startServices } from '../support/test-app.js';

@Injectable()
class Orders {
  constructor(readonly locks: LockService) {}

  @DistributedLock('order:<id>')
  async pay(id: string) {
    return this.locks.current()?.remaining ?? id;
  }
}

@Injectable()
class Billing {
  constructor(@InjectLocks('billing') readonly billing: LockService) {}

  @DistributedLock('bill:<id>', { locks: 'billing' })
  async bill(id: string) {
    return [id, this.billing.current()?.key];
  }
}

const start = async (options: unknown) => {
  const testing = await Test.createTestingModule({
    imports: [DistributedLockModule.forRoot(options as DistributedLockModuleOptions)],
  }).compile();
  return testing.init();
};

describe('DistributedLockModule.forRoot', () => {
  let warn: jest.SpyInstance;

  beforeEach(() => void (warn = jest.spyOn(Logger.prototype, 'warn').mockImplementation()));
  afterEach(() => warn.mockRestore());

  /** Nest 10 also warns of a slow machine. */
  const warningsOf = (what: RegExp) =>
    warn.mock.calls.map(([message]) => String(message)).filter((message) => what.test(message));

  it('gives its options to every lock as defaults', async () => {
    const clock = new FakeClock();
    const store = new MemoryLockStore(clock);
    await using app = await startServices([Orders], { store, clock, ttl: 60_000 });
    expect(await app.get(Orders).pay('1')).toBe(60_000 * 0.99 - 2);
  });

  it.each<[string, unknown, RegExp]>([
    [
      'an unknown one',
      { store: new MemoryLockStore(), tll: 5 },
      /^DistributedLockModule: unknown option "tll" \(did you mean ttl\?\); known options are redis, store, migrate, name, .*http(?!.*(mode|permits))/,
    ],
    [
      'a bad one',
      { store: new MemoryLockStore(), ttl: 0 },
      /^DistributedLockModule: ttl must be .* got 0/,
    ],
    ['one of a call', { mode: 'read' }, /^DistributedLockModule: mode belongs to a call/],
    ['a number', 5, /^DistributedLockModule: the options must be an object, .*, got 5$/],
    [
      'a URL',
      'redis://:secret@x',
      /^DistributedLockModule: the options must be an object, .*, got a string$/,
    ],
    ['null', null, /the options must be an object, .*, got null$/],
    ['a client for a store', { store: { evalsha: () => 1 } }, /write new RedisLockStore\(client\)/],
    [
      'redis and store',
      { store: new MemoryLockStore(), redis: 'redis://x' },
      /either redis or store/,
    ],
    [
      'a redis that is none',
      { redis: () => ({}) },
      /^redis must return a client of ioredis or node-redis, got an object/,
    ],
    [
      'a number for redis',
      { redis: 5 },
      /^redis must be a URL, options of ioredis, a client, a function or a list of these, got 5$/,
    ],
    [
      'a list with a hole',
      { redis: ['redis://127.0.0.1:1', undefined] },
      /^redis\[1\] must be .*, got undefined$/,
    ],
    [
      'a list in a list',
      { redis: [['redis://127.0.0.1:1']] },
      /^redis\[0\] must be .*, got an array$/,
    ],
  ])('refuses options when the application starts: %s', async (_what, options, message) => {
    await expect(start(options)).rejects.toThrow(message);
  });

  it.each<[string, unknown, string]>([
    ['undefined', undefined, 'undefined'],
    ['null', null, 'null'],
    ['an empty text', '', 'empty'],
  ])('refuses to lock in memory where redis is named, and is %s', async (_, redis, named) => {
    const message =
      `DistributedLockModule: redis is ${named} (is an environment variable missing?). ` +
      'Leave it out, or give store: new MemoryLockStore(), for locks in memory';
    await expect(start({ redis })).rejects.toThrow(message);
    await expect(start({ redis, store: undefined, ttl: 5_000 })).rejects.toThrow(message);
    await (await start({ redis, enabled: false })).close();
  });

  it('locks in the store that is given beside a redis without a value', async () => {
    const app = await start({ redis: undefined, store: new MemoryLockStore() });
    expect(app.get(LockService).storeName).toBe('memory');
    await app.close();
  });

  it.each<[string, unknown, string]>([
    ['undefined', undefined, 'DistributedLockModule: store is undefined (is an environment'],
    ['null', null, 'DistributedLockModule: store must be a LockStore, got null'],
    [
      'a client',
      { evalsha: () => {} },
      'store must be a LockStore, got a client of Redis: write new RedisLockStore(client), or redis: client',
    ],
  ])('refuses to lock in memory where store is named, and is %s', async (_, store, message) => {
    await expect(start({ store })).rejects.toThrow(message);
  });

  it.each([{ busyStatus: '423' }, { busyStatus: 200 }, { busyStatus: NaN }, { retryAfter: -5 }])(
    'refuses http: %j, which would make answers wrong',
    async (http) => {
      const [option] = Object.keys(http);
      const message = `DistributedLockModule: http.${option} must be a whole number`;
      await expect(start({ store: new MemoryLockStore(), http })).rejects.toThrow(message);
    },
  );

  it('needs no options', async () => {
    const imports = [DistributedLockModule.forRoot()];
    const testing = await Test.createTestingModule({ imports, providers: [Orders] }).compile();
    const app = await testing.init();
    expect(warningsOf(/live in memory/)).toHaveLength(1);
    expect(await app.get(Orders).pay('1')).toBeGreaterThan(20_000);
    await app.close();
  });

  it('warns once when locks live in memory because nothing else was said', async () => {
    const app = await start({});
    expect(warningsOf(/Neither redis nor store is set/)).toEqual([
      expect.stringMatching(/one process/),
    ]);
    expect(app.get(LockService).storeName).toBe('memory');
    await app.close();
  });

  it('grants every lock where it is not enabled, and still checks keys', async () => {
    const options = { enabled: false, redis: 'redis://nowhere.invalid' };
    const app = await start(options);
    const locks = app.get(LockService);
    const both = await Promise.all([locks.acquire('a'), locks.acquire('a', { waitTimeout: 0 })]);
    expect(both[1].fencingToken).toBeGreaterThan(both[0].fencingToken);
    expect(await locks.withLock('a', (lock) => lock.isHeld)).toBe(true);
    await expect(locks.acquire('')).rejects.toMatchObject({ code: 'LOCK_KEY_INVALID' });
    expect(app.get(getLockClientToken())).toBeUndefined();
    await app.close();
  });

  it.each([
    ['production', 1],
    ['development', 1],
    ['test', 0],
  ])('says that nothing is locked where it is not enabled, in %s', async (environment, times) => {
    const replaced = jest.replaceProperty(process, 'env', { NODE_ENV: environment });
    await (await start({ enabled: false })).close();
    replaced.restore();
    expect(warningsOf(/nothing is locked/)).toHaveLength(times);
  });

  it('grants tokens, where it is not enabled, that a resource lets in which has seen those of a store', async () => {
    const app = await start({ enabled: false });
    const gate = new FencingGate();
    const write = (locks: LockService) => locks.withLock('order:42', (lock) => gate.enter(lock));
    await write(app.get(LockService));
    await write(new LockService(new MemoryLockStore()));
    await write(app.get(LockService));
    await app.close();
  });

  it('makes instances side by side, each with its store', async () => {
    const [store, ofBilling] = [new MemoryLockStore(), new MemoryLockStore()];
    const testing = await Test.createTestingModule({
      imports: [
        DistributedLockModule.forRoot({ store }),
        DistributedLockModule.forRoot({ store: ofBilling, name: 'billing', ttl: 5_000 }),
      ],
      providers: [Orders, Billing, { provide: 'MADE', useFactory: () => new Billing(undefined!) }],
    }).compile();
    const app = await testing.init();
    const billing: LockService = app.get(getLocksToken('billing'));
    expect(app.get(Billing).billing).toBe(billing);
    expect(billing).not.toBe(app.get(LockService));
    expect(app.get(getLocksToken())).toBe(app.get(LockService));

    await app.get(LockService).withLock('bill:1', async () => {
      expect(await app.get(Billing).bill('1')).toEqual(['1', 'bill:1']);
    });
    const granted: string[] = [];
    billing.events.on('held', ({ key }) => granted.push(key));
    await app.get<Billing>('MADE').bill('2').catch(String); // its constructor got no service, its decorator did
    expect(granted).toEqual(['bill:2']);
    await app.close();
  });

  it('may make named instances only', async () => {
    @Controller()
    class Handlers {
      constructor(@InjectLocks('billing') private readonly locks: LockService) {}

      @Get()
      async get() {
        await this.locks.withLock('bill:1', { waitTimeout: 0 }, async () => 'ran');
      }
    }
    const store = new MemoryLockStore();
    const testing = await Test.createTestingModule({
      imports: [DistributedLockModule.forRoot({ store, name: 'billing' })],
      controllers: [Handlers],
      providers: [{ provide: APP_INTERCEPTOR, useClass: DistributedLockInterceptor }],
    }).compile();
    const app = await testing.createNestApplication({ logger: false }).init();
    await new LockService(store).withLock('bill:1', async () => {
      await supertest(app.getHttpServer() as never)
        .get('/')
        .expect(409);
    });
    await app.close();
  });

  it('stays inside its module where it is not global', async () => {
    @Module({
      imports: [DistributedLockModule.forRoot({ store: new MemoryLockStore(), isGlobal: false })],
      providers: [Orders],
      exports: [Orders],
    })
    class OrdersModule {}

    const app = await (
      await Test.createTestingModule({ imports: [OrdersModule] }).compile()
    ).init();
    await app.get(Orders, { strict: false }).pay('1');
    await app.close();

    const outside = Test.createTestingModule({ imports: [OrdersModule], providers: [Billing] });
    await expect(outside.compile()).rejects.toThrow(
      /Nest can't resolve dependencies of the Billing/,
    );
  });
});
