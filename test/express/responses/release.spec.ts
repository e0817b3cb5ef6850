import { once } from 'node:events';
import { request as httpRequest } from 'node:http';
import type { ClientRequest, Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Express, Request, Response } from 'express';
import type { Lock } from 'nest-holdfast/core';
import { lockRequest } from 'nest-holdfast/express';
import request from 'supertest';
import { VERSIONS, around, tellKeys } from '../support/express-app';

describe.each(VERSIONS)('the lock of a request in $version', ({ express }) => {
  const servers: Server[] = [];

  afterEach(() => {
    for (const server of servers.splice(0)) server.close().closeAllConnections();
  });

  async function get(app: Express): Promise<ClientRequest> {
    const server = app.listen(0, '127.0.0.1');
    servers.push(server);
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const client = httpRequest({ port, host: '127.0.0.1', path: '/' });
    client.on('error', () => undefined); // it hangs up in the middle
    client.end();
    return client;
  }

  /** Resolves with the response of the next request, for the server's side of a story. */
  function nextResponse(app: Express): Promise<Response> {
    return new Promise((resolve) => {
      app.use((_req: Request, res: Response, next) => {
        resolve(res);
        next();
      });
    });
  }

  it('is held by the handler, and released when the response is finished', async () => {
    const { app, locks, others } = around(express);
    let lock: Lock | undefined;
    app.get('/', lockRequest('a', { locks }), async (_req, res) => {
      lock = res.locals['lock'] as Lock;
      expect(await others.tryAcquire('a')).toBeUndefined();
      res.json({ isHeld: lock.isHeld });
    });
    expect((await request(app).get('/')).body).toEqual({ isHeld: true });
    expect(lock!.state).toBe('released');
    expect(await others.tryAcquire('a')).toBeDefined();
  });

  it('is released when the response is a stream that comes to its end', async () => {
    const { app, locks } = around(express);
    const states: string[] = [];
    app.get('/', lockRequest('a', { locks }), (_req, res) => {
      const { lock } = res.locals as { lock: Lock };
      res.write('one ');
      setImmediate(() => {
        states.push(lock.state);
        res.end('two');
      });
      res.once('close', () => states.push(lock.state));
    });
    expect((await request(app).get('/')).text).toBe('one two');
    expect(states).toEqual(['held', 'released']);
  });

  it('is released when the connection closes in the middle of a stream, and its handler is done', async () => {
    const { app, locks, others } = around(express);
    const served = nextResponse(app);
    app.get('/', lockRequest('a', { locks }), (_req, res) => void res.write('one '));
    const client = await get(app);
    const [answer] = await once(client, 'response');
    const response = await served;
    const { lock } = response.locals as { lock: Lock };
    expect(lock.isHeld).toBe(true);
    const closed = once(response, 'close');
    answer.destroy();
    await closed;
    expect(lock.state).toBe('held');
    response.end();
    expect(lock.state).toBe('released');
    expect(await others.tryAcquire('a')).toBeDefined();
  });

  it('is waited for', async () => {
    const { app, locks, others, clock } = around(express);
    const first = await others.acquire('a');
    const served = nextResponse(app);
    app.get('/', lockRequest('a', { locks, waitTimeout: 5_000 }), tellKeys);
    const client = await get(app);
    const answered = once(client, 'response');
    await served;
    await clock.advance(1_000);
    await first.release();
    await clock.advance(10);
    const [answer] = await answered;
    expect(answer.statusCode).toBe(200);
    answer.destroy();
  });

  it('is not waited for any more when the client goes away; nothing is left', async () => {
    const { app, locks, others, clock, store } = around(express);
    const first = await others.acquire('a');
    const handler = jest.fn(tellKeys);
    const onError = jest.fn((_error: unknown, _req: Request, _res: Response, _next: unknown) => {});
    const served = nextResponse(app);
    app.get('/', lockRequest('a', { locks, waitTimeout: Infinity }), handler);
    app.use(onError);
    const client = await get(app);
    const response = await served;
    await clock.advance(1_000);
    const closed = once(response, 'close');
    client.destroy();
    await closed;
    await first.release();
    await clock.advance(60_000);
    expect(await store.inspect('a')).toBeUndefined();
    expect(clock.pendingTimers).toBe(0);
    expect(handler).not.toHaveBeenCalled();
    expect(onError).not.toHaveBeenCalled();
    expect(response.listenerCount('close')).toBe(0);
  });

  it('is not taken for a client that has gone before', async () => {
    const { app, locks, clock, store } = around(express);
    const handler = jest.fn(tellKeys);
    const tryAcquire = jest.spyOn(store, 'tryAcquire');
    app.use((_req, res, next) => {
      res.once('close', next);
      res.destroy();
    });
    app.get('/', lockRequest('a', { locks }), handler);
    const client = await get(app);
    await new Promise((resolve) => client.once('close', resolve));
    await clock.advance(0);
    expect(tryAcquire).not.toHaveBeenCalled();
    expect(handler).not.toHaveBeenCalled();
  });

  it('is released when the client goes away just as it is granted', async () => {
    const { app, locks, clock, store } = around(express);
    const handler = jest.fn(tellKeys);
    let response!: Response;
    const grant = store.tryAcquire.bind(store);
    jest.spyOn(store, 'tryAcquire').mockImplementation(async (asked) => {
      const lease = await grant(asked);
      response.destroy();
      return lease;
    });
    app.use((_req, res, next) => {
      response = res;
      next();
    });
    app.get('/', lockRequest('a', { locks }), handler);
    const client = await get(app);
    await new Promise((resolve) => client.once('close', resolve));
    await clock.advance(0);
    await clock.advance(0);
    expect(await store.inspect('a')).toBeUndefined();
    expect(handler).not.toHaveBeenCalled();
    expect(clock.pendingTimers).toBe(0);
  });

  it.each<[string, unknown, number]>([
    ['none', undefined, 200],
    ['a signal that is none', { lockSignal: 5 }, 500],
  ])('is released where the response has %s for locals', async (_, of, status) => {
    const { app, locks, others } = around(express);
    app.use((_req, res, next) => {
      res.locals = of as never;
      next();
    });
    app.get('/', lockRequest('a', { locks }), (_req, res) => void res.json({}));
    app.use((_error: unknown, _req: Request, res: Response, _next: unknown) => {
      res.sendStatus(500);
    });
    await request(app).get('/').expect(status);
    expect(await others.tryAcquire('a', { waitTimeout: 0 })).toBeDefined();
  });

  it('is released where what comes next throws, which the error handlers are told', async () => {
    const { app, locks, others } = around(express);
    app.get('/', (req, res, next) => {
      const lockThen = lockRequest('a', { locks });
      lockThen(req, res, (error) => {
        if (error) return next(error);
        throw new Error('of a router that does not catch it');
      });
    });
    app.use((error: Error, _req: Request, res: Response, _next: unknown) => {
      res.status(418).send(error.message);
    });
    await request(app).get('/').expect(418, 'of a router that does not catch it');
    expect(await others.tryAcquire('a', { waitTimeout: 0 })).toBeDefined();
  });

  it('leaves no listener behind on the response', async () => {
    const { app, locks } = around(express);
    const counts: number[] = [];
    app.get('/', (_req, res, next) => {
      counts.push(res.listenerCount('close'));
      lockRequest('a', { locks })(_req, res, next);
    });
    app.get('/', (_req, res) => {
      counts.push(res.listenerCount('close'));
      res.json({});
    });
    await request(app).get('/');
    expect(counts[1]).toBe(counts[0]! + 1);
  });
});
