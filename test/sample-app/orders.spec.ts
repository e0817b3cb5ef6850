import { LockService } from 'nest-holdfast';
import request from 'supertest';
import { Stock } from '../../sample-app/stock/stock.js';
import { suspendMachine } from '../support/suspend-machine.js';
import { SampleApp } from './start-sample-app.js';

describe('the sample app', () => {
  let app: SampleApp;

  beforeEach(async () => {
    app = await SampleApp.start();
  });

  afterEach(() => app[Symbol.asyncDispose]());

  const http = () => request(app.nest.getHttpServer());
  const stockUp = (sku: string, units: number) => http().put(`/stock/${sku}`).send({ units });
  const unitsOf = async (sku: string) => (await http().get(`/stock/${sku}`)).body.units as number;

  /** Resolves with the number of orders that were confirmed. */
  async function order(count: number, path: string): Promise<number> {
    const answers = await Promise.all(Array.from({ length: count }, () => http().post(path)));
    return answers.filter(({ status }) => status === 201).length;
  }

  it('sells what there is, and no more, to 50 orders at once', async () => {
    await stockUp('lamp', 20).expect(200, { sku: 'lamp', units: 20 });
    expect(await order(50, '/orders/lamp')).toBe(20);
    expect(await unitsOf('lamp')).toBe(0);
  });

  it('sells more than there is without the lock', async () => {
    await stockUp('lamp', 20);
    expect(await order(50, '/orders/lamp/unlocked')).toBeGreaterThan(20);
  });

  it('answers an order with its number and what is left', async () => {
    await stockUp('lamp', 2);
    const { body } = await http().post('/orders/lamp').expect(201);
    expect(body).toEqual({ id: expect.any(String), sku: 'lamp', unitsLeft: 1 });
  });

  it('answers 409 when an article is sold out', async () => {
    const body = { statusCode: 409, message: 'lamp is sold out' };
    await http().post('/orders/lamp').expect(409, body);
  });

  it('answers 400 for what is no article or no number of units, without taking a lock', async () => {
    const held = jest.fn();
    app.nest.get(LockService).events.on('held', held);
    await http().post('/orders/..%2Flamp').expect(400);
    await stockUp('Lamp', 1).expect(400);
    await stockUp('lamp', -1).expect(400);
    await stockUp('lamp', 1.5).expect(400);
    expect(held).not.toHaveBeenCalled();
    await stockUp('lamp', 1).expect(200);
    expect(held).toHaveBeenCalledTimes(1);
  });

  it('answers 503 when there are no locks to be had', async () => {
    await app.nest.get(LockService).close();
    await http()
      .post('/orders/lamp')
      .expect(503)
      .expect('Retry-After', /^[12]$/);
  });

  it('waits for the lock of the article, and of no other, by the route key as by the service key', async () => {
    const lock = await app.nest.get(LockService).acquire('stock:lamp');
    let isDone = false;
    const waiting = Promise.all([stockUp('lamp', 3), http().post('/orders/lamp')]);
    void waiting.then(() => (isDone = true));
    await stockUp('chair', 1).expect(200);
    await http().post('/orders/chair').expect(201);
    expect(isDone).toBe(false);
    await lock.release();
    await waiting;
  });

  describe('when a holder stalls until its lock has expired', () => {
    it('refuses its write by the fencing token', async () => {
      await stockUp('lamp', 5);
      const stalled = await app.nest
        .get(LockService)
        .acquire('stock:lamp', { ttl: 60_000, autoExtend: false });
      suspendMachine(60_000);
      expect(stalled.isHeld).toBe(false);
      await http().post('/orders/lamp').expect(201);

      const stock = app.nest.get(Stock);
      const late = stock.sell('lamp', stalled.fencingToken);
      await expect(late).rejects.toThrow(/fencing token .* is out of date/);
      expect(await unitsOf('lamp')).toBe(4);
    });

    it('tells its client with 409', async () => {
      await stockUp('lamp', 5);
      await http().post('/orders/lamp').expect(201);
      const stock = app.nest.get(Stock);
      const sell = stock.sell.bind(stock);
      jest.spyOn(stock, 'sell').mockImplementationOnce((sku) => sell(sku, 0n));
      const { body } = await http().post('/orders/lamp').expect(409);
      expect(body.message).toMatch(/fencing token 0 is out of date/);
      expect(await unitsOf('lamp')).toBe(4);
    });
  });
});
