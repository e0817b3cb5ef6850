import { Controller, Get, Injectable } from '@nestjs/common';
import { DistributedLock, DistributedLockModule, MemoryLockStore } from 'nest-holdfast';
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
