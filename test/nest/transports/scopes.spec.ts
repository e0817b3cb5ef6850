import { get } from 'node:http';
import { Controller, Get, Inject, Injectable, Param, Scope } from '@nestjs/common';
import { REQUEST } from '@nestjs/core';
import { DistributedLock, LockError } from 'nest-holdfast';
import { until } from '../../support/until.js';
import { ADAPTERS } from '../support/test-app.js';
import { openTransport, type TransportApp } from './support/transport-app.js';
import { TROUBLES } from './support/troubles.js';

const STATUS = { busy: 409, down: 503, lost: 500 };
const AT_ONCE = { waitTimeout: 0 };

let ran: string[] = [];

@Injectable({ scope: Scope.TRANSIENT })
class PerUse {
  @DistributedLock('use:<id>', AT_ONCE)
  async run(id: string): Promise<void> {
    ran.push(id);
  }
}

@Injectable({ scope: Scope.REQUEST })
class PerRequest {
  constructor(
    @Inject(REQUEST) private readonly request: { url: string },
    readonly own: PerUse,
  ) {}

  @DistributedLock('service:<id>', AT_ONCE)
  async run(id: string): Promise<void> {
    ran.push(`${id} of ${this.request.url}`);
  }
}

@Controller({ path: 'orders', scope: Scope.REQUEST })
class Orders {
  constructor(private readonly services: PerRequest) {}

  @DistributedLock('order:<id>', AT_ONCE)
  @Get('above/:id')
  async above(@Param('id') id: string) {
    ran.push(id);
  }

  @Get('below/:id')
  @DistributedLock('order:<request.params.id>', AT_ONCE)
  async below(@Param('id') id: string) {
    ran.push(id);
  }

  @Get('before/:id')
  @DistributedLock('order:<request.params.id>', { ...AT_ONCE, before: 'pipes' })
  async before(@Param('id') id: string) {
    ran.push(id);
  }

  @Get('patient/:id')
  @DistributedLock('order:<id>', { waitTimeout: Infinity })
  async patient(@Param('id') id: string) {
    ran.push(id);
  }

  @Get('services/:id')
  async throughServices(@Param('id') id: string) {
    const calls = [this.services.run(id), this.services.own.run(id)];
    const failures = await Promise.all(
      calls.map((call) => call.catch((error: LockError) => error)),
    );
    return failures.map((failure) => failure && { code: failure.code, key: failure.key });
  }
}

describe.each(ADAPTERS)('request scope, on %s', (adapter) => {
  let transport: TransportApp;

  beforeAll(async () => {
    transport = await openTransport({
      adapter,
      controllers: [Orders],
      providers: [PerRequest, PerUse],
    });
  });
  afterAll(() => transport[Symbol.asyncDispose]());
  beforeEach(() => {
    ran = [];
    transport.control.reset();
    transport.takeLog();
  });

  describe.each(['above', 'below', 'before'])('a controller with the lock %s', (where) => {
    it('is locked', async () => {
      await transport.http.get(`/orders/${where}/7`).expect(200);
      expect(transport.log).toEqual(['+order:7', '-order:7']);
    });

    it.each(TROUBLES)('answers a lock that is $name', async ({ name, hasRun, strike }) => {
      strike(transport.control, 'order:7');
      await transport.http.get(`/orders/${where}/7`).expect(STATUS[name]);
      expect(ran).toHaveLength(hasRun ? 1 : 0);
    });
  });

  it.each(TROUBLES)(
    'services of request and of transient scope reject with the lock’s own error: $name',
    async ({ code, strike }) => {
      strike(transport.control, 'service:7');
      strike(transport.control, 'use:7');
      const { body } = await transport.http.get('/orders/services/7').expect(200);
      expect(body).toEqual([
        { code, key: 'service:7' },
        { code, key: 'use:7' },
      ]);
    },
  );

  it('ends the wait of a client that goes away', async () => {
    const elsewhere = transport.control.hold('order:7');
    const request = get(`${await transport.app.getUrl()}/orders/patient/7`);
    request.on('error', () => {}); // of the abort
    await transport.control.untilWaiting('order:7');
    request.destroy();
    await until(() => transport.control.waiters() === 0);
    elsewhere.release();
    expect(ran).toEqual([]);
  });
});
