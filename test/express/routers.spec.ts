import type { NextFunction, Request, Response } from 'express';
import { lockRequest } from 'nest-holdfast/express';
import request from 'supertest';
import { VERSIONS, around, tellError, tellKeys } from './support/express-app';

describe.each(VERSIONS)('lockRequest on a router of $version', ({ express }) => {
  const byId = 'order:<params.id>';

  it('a route of the router has its own params', async () => {
    const { app, locks } = around(express);
    const router = express.Router();
    router.get('/:id', lockRequest(byId, { locks }), tellKeys);
    app.use('/shops/:shop', router);
    expect((await request(app).get('/shops/1/7')).body).toEqual(['order:7']);
  });

  it('app.use with a path has the params of that path', async () => {
    const { app, locks } = around(express);
    app.use('/orders/:id', lockRequest(byId, { locks }));
    app.get('/orders/:number/items', tellKeys);
    expect((await request(app).get('/orders/7/items')).body).toEqual(['order:7']);
  });

  describe('router.use', () => {
    const mounted = (mergeParams: boolean) => {
      const { app, locks, others } = around(express);
      const router = express.Router({ mergeParams });
      router.use(lockRequest(byId, { locks }));
      router.get('/items', tellKeys);
      router.get('/items/:id', tellKeys);
      app.use('/orders/:id', router);
      return { app, others };
    };

    it('has the params of the path where its router is, with mergeParams', async () => {
      const { app } = mounted(true);
      expect((await request(app).get('/orders/7/items')).body).toEqual(['order:7']);
    });

    it('never has those of the routes behind it', async () => {
      const { app } = mounted(true);
      expect((await request(app).get('/orders/7/items/8')).body).toEqual(['order:7']);
    });

    it('has none otherwise: 400 names the placeholder, and nothing is locked', async () => {
      const { app, others } = mounted(false);
      app.use(tellError);
      const { body } = await request(app).get('/orders/7/items');
      expect(body).toMatchObject({
        status: 400,
        code: 'LOCK_KEY_INVALID',
        message: expect.stringMatching(
          /^Lock key "order:<params\.id>": <params\.id> must be .*; got undefined$/,
        ),
      });
      expect(await others.inspect('order:7')).toBeUndefined();
    });
  });

  it('a placeholder whose whole path is missing is 400, too', async () => {
    const { app, locks } = around(express);
    app.get('/', lockRequest('order:<order.customer.id>', { locks }), tellKeys);
    app.use(tellError);
    const { body } = await request(app).get('/');
    expect(body.status).toBe(400);
    expect(body.message).toContain('<order.customer.id> must be');
    expect(body.message).toContain('"order" is undefined');
  });

  it('router.param comes before: what it loads and what it refuses', async () => {
    const { app, locks, others } = around(express);
    const router = express.Router();
    router.param('id', (req: Request, res: Response, next: NextFunction, id: string) => {
      Object.assign(req, { order: { customer: `c${id}` } });
      if (id === '0') res.sendStatus(404);
      else next();
    });
    const held = jest.fn();
    locks.events.on('held', held);
    router.get('/:id', lockRequest('customer:<order.customer>', { locks }), tellKeys);
    app.use('/orders', router);
    await request(app).get('/orders/0').expect(404);
    expect(held).not.toHaveBeenCalled();
    expect((await request(app).get('/orders/7')).body).toEqual(['customer:c7']);
    expect(await others.inspect('customer:c7')).toBeUndefined();
  });

  it('one lock for all routes of a router', async () => {
    const { app, locks, others } = around(express);
    const router = express.Router();
    router.use(lockRequest('shop', { locks }));
    router.get('/a', tellKeys);
    router.post('/b', tellKeys);
    app.use('/shop', router);
    await request(app).get('/shop/a').expect(200, ['shop']);
    await request(app).post('/shop/b').expect(200, ['shop']);
    const elsewhere = await others.acquire('shop');
    await request(app).get('/shop/a').expect(409);
    await elsewhere.release();
    await request(app).get('/shop/nowhere').expect(404);
    expect(await others.inspect('shop')).toBeUndefined();
  });

  it("next('route') keeps the lock, which the next route enters again", async () => {
    const { app, locks, others, store } = around(express);
    const tryAcquire = jest.spyOn(store, 'tryAcquire');
    const lock = lockRequest(byId, { locks, reentrant: true });
    app.get('/orders/:id', lock, (_req, _res, next) => next('route'), tellKeys);
    app.get('/orders/:id', lock, async (_req, res) => {
      res.json({ isFree: (await others.tryAcquire('order:7')) !== undefined });
    });
    await request(app).get('/orders/7').expect(200, { isFree: false });
    expect(tryAcquire).toHaveBeenCalledTimes(2); // ours, and that of the others
    expect(await others.inspect('order:7')).toBeUndefined();
  });

  it("next('router') keeps it, too", async () => {
    const { app, locks, others } = around(express);
    const router = express.Router();
    router.get('/:id', lockRequest(byId, { locks }), (_req, _res, next) => next('router'));
    app.use('/orders', router);
    app.use(async (_req, res) => {
      res.json({ isFree: (await others.tryAcquire('order:7')) !== undefined });
    });
    await request(app).get('/orders/7').expect(200, { isFree: false });
    expect(await others.inspect('order:7')).toBeUndefined();
  });

  it('HEAD runs the handler of GET under the lock, and is answered without a body', async () => {
    const { app, locks, others } = around(express);
    const handler = jest.fn(tellKeys);
    app.get('/orders/:id', lockRequest(byId, { locks }), handler);
    const { headers, text } = await request(app).head('/orders/7').expect(200);
    expect(text).toBeUndefined();
    expect(headers['content-length']).toBe('11');
    expect(handler).toHaveBeenCalledTimes(1);
    const elsewhere = await others.acquire('order:7');
    await request(app).head('/orders/7').expect(409);
    await elsewhere.release();
    expect(handler).toHaveBeenCalledTimes(1);
  });

  it('an error behind it is answered under the lock, and frees it', async () => {
    const { app, locks, others } = around(express);
    app.get('/orders/:id', lockRequest(byId, { locks }), () => {
      throw new Error('no such order');
    });
    app.use(async (error: Error, _req: Request, res: Response, _next: NextFunction) => {
      const isFree = (await others.tryAcquire('order:7')) !== undefined;
      res.status(404).json({ message: error.message, isFree });
    });
    const { body } = await request(app).get('/orders/7').expect(404);
    expect(body).toEqual({ message: 'no such order', isFree: false });
    expect(await others.inspect('order:7')).toBeUndefined();
  });
});
