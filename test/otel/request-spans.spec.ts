import { Controller, Param, Post } from '@nestjs/common';
import type { NextFunction, Request, Response } from 'express';
import { DistributedLock } from 'nest-holdfast';
import { lockHandler, lockRequest } from 'nest-holdfast/express';
import { instrumentLocks } from 'nest-holdfast/otel';
import { setImmediate } from 'node:timers/promises';
import supertest from 'supertest';
import { around, VERSIONS } from '../express/support/express-app';
import { ADAPTERS, startApp } from '../nest/support/test-app';
import { until } from '../support/until';
import { disableTracing, enableContexts, tracingSdk } from './support/tracing-sdk';

let sdk: ReturnType<typeof tracingSdk>;
beforeEach(() => {
  sdk = tracingSdk();
  enableContexts();
});
afterEach(disableTracing);

/** A span around the rest of the request, as an instrumentation of HTTP makes it. */
function requestSpan(_: unknown, response: Response, next: NextFunction): void {
  void sdk.inSpan('request', async () => {
    const over = new Promise((resolve) => response.once('close', resolve));
    next();
    await over;
  });
}

const pay = () => sdk.inSpan('work', () => setImmediate());
const TREE = ['request', ['acquire order:<id>'], ['hold order:<id>', ['work']]];

/** Once the request and its lock have ended. */
async function expectTree(): Promise<void> {
  await until(() => sdk.span('request') && sdk.span('hold order:<id>'));
  expect(sdk.trees()).toEqual([TREE]);
}

@Controller('orders')
class Orders {
  @DistributedLock('order:<id>')
  @Post(':id')
  async pay(@Param('id') id: string) {
    await pay();
    return { id };
  }
}

describe.each(ADAPTERS)('a request to Nest on %s', (adapter) => {
  it('has a span for the call, and one for the lock with the work in it', async () => {
    await using own = await startApp({
      adapter,
      controllers: [Orders],
      prepare: (app) => app.use(requestSpan),
    });
    instrumentLocks(own.locks, { tracerProvider: sdk.tracerProvider });
    await own.http.post('/orders/7').expect(201, { id: '7' });
    await expectTree();
    expect(JSON.stringify(sdk.spans().map(({ attributes }) => attributes))).not.toContain('7');
  });
});

describe.each(VERSIONS)('a request to $version', ({ express }) => {
  it.each(['lockRequest', 'lockHandler'])('has the same with %s', async (way) => {
    const { app, locks } = around(express as never);
    instrumentLocks(locks, { tracerProvider: sdk.tracerProvider });
    const options = { locks, name: 'order:<id>' };
    const handler = async ({ params }: Request, response: Response) => {
      await pay();
      response.json({ id: params['id'] });
    };
    app.use(requestSpan);
    if (way === 'lockHandler')
      app.post('/orders/:id', lockHandler('order:<params.id>', options, handler)); // prettier-ignore
    else app.post('/orders/:id', lockRequest('order:<params.id>', options), handler);
    await supertest(app).post('/orders/7').expect(200, { id: '7' });
    await expectTree();
    await locks.close();
  });
});
