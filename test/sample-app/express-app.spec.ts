import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { LockService, MemoryLockStore } from 'nest-holdfast/core';
import request from 'supertest';
import { expressApp } from '../../sample-app/express-app.js';
import { StockLedger } from '../../sample-app/stock/stock-ledger.js';
import { Stock } from '../../sample-app/stock/stock.js';

describe('the Express app', () => {
  let directory: string;
  let stock: Stock;
  let locks: LockService;
  let app: ReturnType<typeof expressApp>;

  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'holdfast-express-'));
    stock = new Stock(new StockLedger(directory));
    const short = { retryDelay: 5, retryJitter: 5 };
    locks = new LockService(new MemoryLockStore(), short);
    app = expressApp(stock, locks);
  });

  afterEach(async () => {
    await locks.close();
    await rm(directory, { recursive: true, force: true });
  });

  it('sells what there is, and no more, to 30 orders at once', async () => {
    await stock.set('lamp', 10);
    const orders = Array.from({ length: 30 }, () => request(app).post('/orders/lamp'));
    const answers = await Promise.all(orders);
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(10);
    expect(answers.filter(({ status }) => status === 409)).toHaveLength(20);
    await request(app).get('/stock/lamp').expect(200, { sku: 'lamp', units: 0 });
  });

  it('answers 409 when an article is sold out', async () => {
    const soldOut = { statusCode: 409, message: 'lamp is sold out' };
    await request(app).post('/orders/lamp').expect(409, soldOut);
  });

  it('answers 400 for what is no article, without taking a lock', async () => {
    const held = jest.fn();
    locks.events.on('held', held);
    await request(app).post('/orders/..%2Flamp').expect(400);
    expect(held).not.toHaveBeenCalled();
  });

  it('answers 503 when there are no locks to be had', async () => {
    await locks.close();
    await request(app)
      .post('/orders/lamp')
      .expect(503)
      .expect('Retry-After', /^[12]$/);
  });
});
