import { Controller, Get, Injectable } from '@nestjs/common';
import type { INestApplication } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import {
  DistributedLock,
  DistributedLockModule,
  InjectLocks,
  LockService,
  MemoryLockStore,
} from 'nest-holdfast';
import { LockControl } from 'nest-holdfast/testing';
import request from 'supertest';
import { startApp } from '../support/test-app.js';

const AT_ONCE = { waitTimeout: 0 };

@Injectable()
class Billing {
  @DistributedLock('bill', { ...AT_ONCE, locks: 'billing' })
  async bill() {
    return 'billed';
  }

  @DistributedLock('log', { ...AT_ONCE, locks: 'logs' })
  async log() {
    return 'logged';
  }

  @DistributedLock('order', AT_ONCE)
  async order() {
    return 'ordered';
  }
}

@Controller()
class Handlers {
  constructor(readonly billing: Billing) {}

  @Get('bill')
  async bill() {
    return this.billing.bill();
  }

  @Get('log')
  async log() {
    return this.billing.log();
  }

  @Get('order')
  async order() {
    return this.billing.order();
  }
}

it('the error of a service is answered as the module of its locks says', async () => {
  const store = new MemoryLockStore();
  await using app = await startApp({
    controllers: [Handlers],
    providers: [Billing],
    lockOptions: { store, http: { busyStatus: 423 } },
    imports: [
      DistributedLockModule.forRoot({ name: 'billing', store, http: { busyStatus: 429 } }),
      DistributedLockModule.forRoot({ name: 'logs', store, http: false }),
    ],
  });
  for (const [key, status] of [
    ['order', 423],
    ['bill', 429],
    ['log', 500],
  ] as const) {
    await app.elsewhere.withLock(key, async () => {
      await app.http.get(`/${key}`).expect(status);
    });
    await app.http.get(`/${key}`).expect(200);
  }
});

@Controller()
class Services {
  constructor(
    @InjectLocks('billing') readonly billing: LockService,
    @InjectLocks('logs') readonly logs: LockService,
  ) {}

  @Get('bill')
  bill() {
    return this.billing.withLock('bill', AT_ONCE, async () => 'billed');
  }

  @Get('log')
  log() {
    return this.logs.withLock('log', AT_ONCE, async () => 'logged');
  }

  @Get('locked')
  @DistributedLock('locked', { locks: 'logs' })
  async locked() {
    return this.bill();
  }
}

const control = new LockControl();

describe.each([true, false])(
  'Locks of a service with a name, beside one without: %j',
  (hasDefault) => {
    const billing = { name: 'billing', store: control.store(), http: { busyStatus: 429 } };
    const logs = { name: 'logs', store: control.store(), http: false } as const;
    const unnamed = { store: control.store(), http: { busyStatus: 423, exposeKey: true } };
    let app: INestApplication;

    beforeAll(async () => {
      const all = [billing, logs, ...(hasDefault ? [unnamed] : [])];
      const imports = all.map((options) => DistributedLockModule.forRoot(options));
      const testing = await Test.createTestingModule({
        imports,
        controllers: [Services],
      }).compile();
      app = testing.createNestApplication({ logger: false });
      await app.init();
    });
    afterEach(() => control.reset());
    afterAll(() => app.close());

    it.each([
      ['bill', 'bill', 429],
      ['bill', 'locked', 429],
      ['log', 'log', 500],
    ])('have the answers of their instance: %s held, at %s', async (key, path, status) => {
      control.busy(key);
      const { body } = await request(app.getHttpServer()).get(`/${path}`).expect(status);
      expect(JSON.stringify(body)).not.toContain(key);
    });
  },
);
