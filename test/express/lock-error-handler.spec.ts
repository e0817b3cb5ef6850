import type { Express, NextFunction, Request, RequestHandler, Response } from 'express';
import {
  LockDeadlockError,
  type LockError,
  LockLostError,
  LockPermitsError,
  LockStoreError,
  LockUnsupportedError,
} from 'nest-holdfast/core';
import { lockErrorHandler, lockRequest } from 'nest-holdfast/express';
import { FencingGate, fencedRequest } from 'nest-holdfast/fencing';
import request from 'supertest';
import { until } from '../support/until.js';
import { controlledApp } from './support/controlled-app.js';
import { VERSIONS } from './support/express-app.js';
import { Served } from './support/served.js';

type AsyncHandler = (request: Request, response: Response) => Promise<unknown>;

describe.each(VERSIONS)('lockErrorHandler in $version', ({ version, express }) => {
  /** How errors of an async handler reach the error handlers. */
  const route = (handler: AsyncHandler): RequestHandler =>
    version === 'Express 5' ? handler : (req, res, next) => void handler(req, res).catch(next);

  const busy = {
    code: 'LOCK_TIMEOUT',
    message: 'The lock is held',
  };
  const atOnce = { waitTimeout: 0 };

  function throwing(error: unknown): Express {
    const app = express();
    app.get(
      '/',
      route(() => Promise.reject(error as Error)),
    );
    return app;
  }

  describe('answers for withLock in a handler', () => {
    it('that finds the key held', async () => {
      const { app, control, locks } = controlledApp(express);
      const work = jest.fn();
      app.get(
        '/',
        route(() => locks.withLock('a', atOnce, work)),
      );
      app.use(lockErrorHandler());
      control.hold('a');
      const response = await request(app).get('/').expect(409, busy);
      expect(response.headers['retry-after']).toMatch(/^[12]$/);
      expect(response.headers['content-type']).toBe('application/json; charset=utf-8');
      expect(work).not.toHaveBeenCalled();
    });

    it('of a service that is being drained, and for lockRequest', async () => {
      const { app, locks } = controlledApp(express);
      app.get(
        '/',
        route(() => locks.withLock('a', () => {})),
      );
      app.get('/locked', lockRequest('a', { locks }), (_, response) => void response.end());
      app.use(lockErrorHandler());
      await locks.drain();
      const told = { code: 'LOCK_DRAINING', message: 'The server is shutting down' };
      for (const path of ['/', '/locked']) {
        const response = await request(app).get(path).expect(503, told);
        expect(response.headers['retry-after']).toMatch(/^[12]$/);
      }
    });

    it('whose store is down, without its details', async () => {
      const { app, control, locks } = controlledApp(express);
      app.get(
        '/',
        route(() => locks.withLock('a', () => {})),
      );
      app.use(lockErrorHandler());
      control.failing('a', new Error('connect ECONNREFUSED 10.0.0.7:6379 password=hunter2'));
      const response = await request(app).get('/').expect(503);
      expect(response.headers['retry-after']).toMatch(/^[12]$/);
      expect(response.body).toEqual({
        code: 'LOCK_STORE_FAILED',
        message: 'The lock store is not available',
      });
      expect(JSON.stringify(response)).not.toMatch(/hunter2|10\.0\.0\.7/);
    });

    it('whose key is none', async () => {
      const { app, locks } = controlledApp(express);
      app.get(
        '/',
        route(({ query }) => locks.withLock(query['key'] as string, () => {})),
      );
      app.use(lockErrorHandler());
      const response = await request(app).get('/').expect(400);
      expect(response.body).toEqual({
        code: 'LOCK_KEY_INVALID',
        message: 'The request gives no valid lock key',
      });
      expect(response.headers['retry-after']).toBeUndefined();
    });

    it('that lost its lock on the way', async () => {
      const { app, control, locks } = controlledApp(express);
      app.get(
        '/',
        route((_, res) => locks.withLock('a', () => res.locals)),
      );
      app.use(lockErrorHandler());
      control.lose('a');
      const { body } = await request(app).get('/').expect(500);
      expect(body).toEqual({ code: 'LOCK_LOST', message: 'Internal server error' });
    });
  });

  describe('answers for lockRequest', () => {
    it.each([
      ['by default', {}, {}, 409, 1],
      ['as it was told', { busyStatus: 423, retryAfter: 30 }, {}, 423, 30],
      ['as the route was told', {}, { busyStatus: 429, retryAfter: 0 }, 429, 0],
      ['the route first', { busyStatus: 423, retryAfter: 30 }, { retryAfter: 7 }, 423, 7],
    ])('%s', async (_, options, ofRoute, status, retryAfter) => {
      const { app, control, locks } = controlledApp(express);
      app.get('/', lockRequest('a', { locks, ...atOnce, ...ofRoute }));
      app.use(lockErrorHandler(options));
      control.hold('a');
      const response = await request(app).get('/').expect(status, busy);
      const seconds = Number(response.headers['retry-after']);
      expect(seconds).toBeGreaterThanOrEqual(retryAfter);
      expect(seconds).toBeLessThanOrEqual(2 * retryAfter);
    });

    it('whose placeholder is missing', async () => {
      const { app, locks } = controlledApp(express);
      app.get('/', lockRequest('order:<params.id>', { locks }));
      app.use(lockErrorHandler());
      const { body } = await request(app).get('/').expect(400);
      expect(body.message).toBe('The request gives no valid lock key');
    });
  });

  it('answers for fencing tokens: stale, missing, malformed', async () => {
    const app = express();
    const gate = new FencingGate();
    app.get(
      '/',
      fencedRequest(() => 'a', { gate }),
      (_req, res) => void res.send('ok'),
    );
    app.get(
      '/late',
      route(async () => gate.enter({ key: 'a', fencingToken: 1n })),
    );
    app.use(lockErrorHandler());
    const send = (token: string) => request(app).get('/').set('Fencing-Token', token);
    await send('2').expect(200);
    expect((await send('1').expect(409)).body.code).toBe('LOCK_STALE');
    expect((await send('one').expect(400)).body.code).toBe('LOCK_TOKEN_INVALID');
    expect((await request(app).get('/').expect(428)).body.code).toBe('LOCK_TOKEN_INVALID');
    expect((await request(app).get('/late').expect(409)).body.code).toBe('LOCK_STALE');
  });

  it.each([
    new LockLostError('a', 'expired'),
    new LockDeadlockError('it would wait for itself', 'a'),
    new LockPermitsError('a', 3, 5),
    new LockUnsupportedError('a', 'redlock', 'a majority cannot count'),
  ])('is 500 with the code, and no more, for $code', async (error) => {
    const app = throwing(error).use(lockErrorHandler());
    const response = await request(app).get('/').expect(500);
    expect(response.body).toEqual({ code: error.code, message: 'Internal server error' });
    expect(response.headers['retry-after']).toBeUndefined();
  });

  it.each([
    ['an error', Object.assign(new Error('no such order'), { status: 404 })],
    ['one that looks like ours', Object.assign(new Error('busy'), { code: 'LOCK_TIMEOUT' })],
    ['a string', 'no such order'],
  ])('passes on what is not a lock error, as it is: %s', async (_, error) => {
    const seen: unknown[] = [];
    const app = throwing(error).use(lockErrorHandler());
    app.use((passed: unknown, _req: Request, res: Response, _next: NextFunction) => {
      seen.push(passed);
      res.sendStatus(418);
    });
    await request(app).get('/').expect(418);
    expect(seen).toHaveLength(1);
    expect(seen[0]).toBe(error);
  });

  it('says nothing of the body that was to come', async () => {
    const { app, control, locks } = controlledApp(express);
    const send = async (_request: Request, response: Response) => {
      response.type('text/csv').attachment('orders.csv').set('Content-Encoding', 'gzip');
      await locks.withLock('a', atOnce, () => response.end());
    };
    app.get('/', route(send));
    app.use(lockErrorHandler());
    control.hold('a');
    const { headers } = await request(app).get('/').expect(409, busy);
    expect(headers).toMatchObject({ 'content-type': 'application/json; charset=utf-8' });
    expect(headers).not.toHaveProperty('content-encoding');
    expect(headers).not.toHaveProperty('content-disposition');
  });

  it('answers HEAD without a body', async () => {
    const app = throwing(new LockStoreError('a', 'redis', 'it is down')).use(lockErrorHandler());
    const response = await request(app).head('/').expect(503);
    expect(response.headers['retry-after']).toMatch(/^[12]$/);
    expect(response.text).toBeUndefined();
  });

  describe('leaves to Express what comes too late: headers have been sent, so the connection is cut', () => {
    it('withLock in a handler', async () => {
      const { app, control, locks } = controlledApp(express);
      const begin = async (_request: Request, response: Response) => {
        response.write('begun');
        await locks.withLock('a', atOnce, () => response.end('done'));
      };
      app.get('/', route(begin));
      const passed = lastHandler(app.use(lockErrorHandler()));
      control.hold('a');
      await using served = await Served.start(app);
      await expectCut(served);
      expect(passed).toEqual(['LOCK_TIMEOUT']);
    });

    it.each(['next', 'respond'] as const)("lockRequest with onError: '%s'", async (onError) => {
      const { app, control, locks } = controlledApp(express);
      app.use((_request, response, next) => {
        response.write('begun');
        next();
      });
      app.get('/', lockRequest('a', { locks, ...atOnce, onError }));
      const passed = lastHandler(app.use(lockErrorHandler()));
      control.hold('a');
      await using served = await Served.start(app);
      await expectCut(served);
      expect(passed).toEqual(['LOCK_TIMEOUT']);
      expect(control.waiters()).toBe(0);
    });

    /** The codes of the errors that get past the others. */
    function lastHandler(app: Express): unknown[] {
      const codes: unknown[] = [];
      app.use((error: LockError, _req: Request, _res: Response, next: NextFunction) => {
        codes.push(error.code);
        next(error);
      });
      return codes;
    }

    async function expectCut(served: Served): Promise<void> {
      const wire = await served.connect();
      wire.send('/');
      await wire.closed;
      expect(wire.received).toContain('begun');
      expect(wire.received).not.toContain('LOCK_TIMEOUT');
      expect(wire.received).not.toMatch(/\r\n0\r\n\r\n$/); // the end of a whole body
    }
  });
});

describe.each(VERSIONS)('withLock in a handler of $version', ({ express }) => {
  it('holds until the work is done, also when the client goes', async () => {
    const { app, control, locks } = controlledApp(express);
    let finish!: () => void;
    const done = new Promise<void>((resolve) => (finish = resolve));
    app.get('/', (_request, response, next) => {
      locks.withLock('a', () => done).then(() => response.end(), next);
    });
    await using served = await Served.start(app);
    const wire = await served.connect();
    wire.send('/');
    await control.untilHeld('a');
    wire.destroy();
    await served.untilAlone();
    expect(control.held()).toEqual(['a']);
    finish();
    await until(() => control.held().length === 0);
  });

  it('ends its wait by a signal of the response', async () => {
    const { app, control, locks } = controlledApp(express);
    const work = jest.fn();
    const ended = new Promise<unknown>((resolve) => {
      app.get('/', (_request, response) => {
        const gone = new AbortController();
        response.once('close', () => gone.abort());
        locks.withLock('a', { signal: gone.signal }, work).catch(resolve);
      });
    });
    using held = control.hold('a');
    await using served = await Served.start(app);
    const wire = await served.connect();
    wire.send('/');
    await control.untilWaiting('a');
    wire.destroy();
    expect(await ended).toMatchObject({ name: 'AbortError' });
    held.release();
    expect(control.waiters()).toBe(0);
    expect(await locks.withLock('a', { waitTimeout: 0 }, () => 'free')).toBe('free');
    expect(work).not.toHaveBeenCalled();
  });
});

describe('lockErrorHandler refuses at its definition', () => {
  const define = lockErrorHandler as (options?: unknown) => unknown;

  it.each([
    [{ busyStatus: 200 }, RangeError, 'busyStatus must be a whole number from 400 to 599, got 200'],
    [{ busyStatus: '409' }, TypeError, 'busyStatus must be a whole number'],
    [{ retryAfter: -1 }, RangeError, 'retryAfter must be a whole number of seconds from 0'],
    [{ retryAfter: 0.5 }, RangeError, 'retryAfter must be a whole number'],
    [{ onError: 'respond' }, TypeError, 'unknown option "onError"; known options are busyStatus'],
    [5, TypeError, 'the options must be an object, such as { busyStatus: 423 }, got 5'],
  ])('%j', (options, kind, message) => {
    expect(() => define(options)).toThrow(kind);
    expect(() => define(options)).toThrow(`lockErrorHandler: ${message}`);
  });

  it('but not undefined ones, and Express sees an error handler', () => {
    expect(define({ busyStatus: undefined, retryAfter: undefined })).toHaveLength(4);
    expect(define()).toHaveLength(4);
  });
});
