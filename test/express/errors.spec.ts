import type { NextFunction, Request, Response } from 'express';
import {
  lockErrorHandler,
  lockHandler,
  lockRequest,
  type LockErrorOptions,
} from 'nest-holdfast/express';
import request from 'supertest';
import { VERSIONS, around, tellError, tellKeys } from './support/express-app';

const secret = new Error('connect ECONNREFUSED 10.0.0.7:6379 password=hunter2');

describe.each(VERSIONS)('lockRequest in $version, when there is no lock', ({ express }) => {
  beforeEach(() => jest.spyOn(console, 'error').mockReturnValue());
  afterEach(() => jest.restoreAllMocks());

  const busy = {
    code: 'LOCK_TIMEOUT',
    message: 'The lock is held',
  };

  describe("passes the error to the application's handlers", () => {
    it('409 and Retry-After for a held key, from the default handler', async () => {
      const { app, locks, others } = around(express);
      const handler = jest.fn(tellKeys);
      await others.acquire('a');
      app.get('/', lockRequest('a', { locks }), handler);
      const response = await request(app).get('/');
      expect(response.status).toBe(409);
      expect(response.headers['retry-after']).toMatch(/^[12]$/);
      expect(handler).not.toHaveBeenCalled();
    });

    it('503 and Retry-After for a store that is down', async () => {
      const { app, locks, store } = around(express);
      store.failure = secret;
      app.get('/', lockRequest('a', { locks, retryAfter: 7 }), tellKeys);
      const response = await request(app).get('/');
      expect(response.status).toBe(503);
      expect(response.headers['retry-after']).toMatch(/^([7-9]|1[0-4])$/);
    });

    it('400 for a bad key', async () => {
      const { app, locks } = around(express);
      app.get('/', lockRequest('<query.id>', { locks }), tellKeys);
      const response = await request(app).get('/');
      expect(response.status).toBe(400);
      expect(response.headers['retry-after']).toBeUndefined();
    });

    it.each([undefined, null, 0, '', 'route', 'router'])(
      '500 where %j is thrown in place of an error',
      async (thrown) => {
        const { app, locks } = around(express);
        const handler = jest.fn(tellKeys);
        const broken = () => {
          throw thrown;
        };
        app.get('/key', lockRequest(broken, { locks }), handler);
        app.get('/work', lockHandler('a', { locks }, broken), handler);
        app.use('/all', lockRequest(broken, { locks }));
        app.get('/all', handler);
        for (const path of ['/key', '/work', '/all'])
          expect((await request(app).get(path)).status).toBe(500);
        expect(handler).not.toHaveBeenCalled();
      },
    );

    it('500 for a deadlock, which no retry would cure', async () => {
      const { app, locks } = around(express);
      const more = { locks, reentrant: true };
      const locked = [lockRequest('a', { locks }), lockRequest(['a', 'b'], more)];
      app.get('/', ...locked, tellKeys);
      app.use(tellError);
      const { body } = await request(app).get('/');
      expect(body).toMatchObject({ code: 'LOCK_DEADLOCK', status: 500, headers: {} });
    });

    it('with everything on the error that a handler may want', async () => {
      const { app, locks, others } = around(express);
      await others.acquire('a');
      app.get('/', lockRequest('a', { locks, busyStatus: 423, retryAfter: 0 }), tellKeys);
      app.use(tellError);
      expect((await request(app).get('/')).body).toEqual({
        ...busy,
        name: 'LockTimeoutError',
        message: 'Lock "a" was not acquired: it is held (attempts: 1)',
        expose: false,
        publicMessage: busy.message,
        status: 423,
        statusCode: 423,
        headers: { 'Retry-After': '0' },
      });
    });
  });

  describe("answers itself with onError: 'respond'", () => {
    it('a held key', async () => {
      const { app, locks, others } = around(express);
      const handler = jest.fn(tellKeys);
      const onError = jest.fn(tellError);
      await others.acquire('a');
      app.get('/', lockRequest('a', { locks, onError: 'respond', busyStatus: 423 }), handler);
      app.use(onError);
      const response = await request(app).get('/');
      expect(response.status).toBe(423);
      expect(response.headers['retry-after']).toMatch(/^[12]$/);
      expect(response.body).toEqual(busy);
      expect(handler).not.toHaveBeenCalled();
      expect(onError).not.toHaveBeenCalled();
    });

    it.each<[string, LockErrorOptions, LockErrorOptions, object]>([
      ['the route', { exposeKey: true }, {}, { key: 'a' }],
      ['the handler of all routes', {}, { exposeKey: true }, { key: 'a' }],
      ['the route first', { exposeKey: false }, { exposeKey: true }, {}],
    ])('with the key where %s exposes it', async (_, ofRoute, ofAll, more) => {
      const { app, locks, others } = around(express);
      await others.acquire('a');
      app.get('/', lockRequest('a', { locks, ...ofRoute }), tellKeys);
      app.use(lockErrorHandler(ofAll));
      expect((await request(app).get('/').expect(409)).body).toEqual({ ...busy, ...more });
    });

    it('a store that is down, without its details', async () => {
      const { app, locks, store } = around(express);
      store.failure = secret;
      app.get('/', lockRequest('a', { locks, onError: 'respond' }), tellKeys);
      const response = await request(app).get('/');
      expect(response.status).toBe(503);
      expect(response.headers['retry-after']).toMatch(/^[12]$/);
      expect(response.body).toEqual({
        code: 'LOCK_STORE_FAILED',
        message: 'The lock store is not available',
      });
      expect(JSON.stringify(response.headers)).not.toContain('hunter2');
    });

    it("a mistake of the program, without a programmer's words", async () => {
      const { app, locks } = around(express);
      const respond = { locks, onError: 'respond' } as const;
      const more = { ...respond, reentrant: true };
      app.get('/', lockRequest('a', respond), lockRequest(['a', 'b'], more), tellKeys);
      const { body } = await request(app).get('/').expect(500);
      expect(body).toEqual({ code: 'LOCK_DEADLOCK', message: 'Internal server error' });
    });

    it('but leaves to the application what is not about locks', async () => {
      const { app, locks } = around(express);
      const failure = new Error('a bug in the key function');
      const key = () => {
        throw failure;
      };
      const seen: unknown[] = [];
      app.get('/', lockRequest(key, { locks, onError: 'respond' }), tellKeys);
      app.use((error: unknown, _req: Request, res: Response, _next: NextFunction) => {
        seen.push(error);
        res.sendStatus(500);
      });
      expect((await request(app).get('/')).status).toBe(500);
      expect(seen).toEqual([failure]);
      expect(Object.keys(failure)).toEqual([]);
    });
  });

  describe('leaves the errors of handlers alone', () => {
    const failure = Object.assign(new Error('no such order'), { status: 404 });

    it.each([
      [
        'thrown',
        () => {
          throw failure;
        },
      ],
      ['passed to next', (_req: Request, _res: Response, next: NextFunction) => next(failure)],
    ])('%s', async (_, handler) => {
      const { app, locks, others } = around(express);
      const seen: unknown[] = [];
      app.get('/', lockRequest('a', { locks, onError: 'respond' }), handler);
      app.use((error: unknown, _req: Request, res: Response, _next: NextFunction) => {
        seen.push(error);
        res.sendStatus(404);
      });
      expect((await request(app).get('/')).status).toBe(404);
      expect(seen[0]).toBe(failure);
      expect(await others.tryAcquire('a')).toBeDefined();
    });
  });
});

it('a rejection of an async handler reaches the error handlers of Express 5', async () => {
  const { app, locks } = around(VERSIONS[1]!.express);
  const failure = new Error('no such order');
  app.get('/', lockRequest('a', { locks }), () => Promise.reject(failure));
  app.use(tellError);
  expect((await request(app).get('/')).body).toMatchObject({ message: 'no such order' });
});
