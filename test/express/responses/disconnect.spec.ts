import { createReadStream } from 'node:fs';
import { PassThrough } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Express, Request, RequestHandler, Response } from 'express';
import { lockErrorHandler, lockHandler, lockRequest } from 'nest-holdfast/express';
import { Deferred } from '../../nest/support/deferred.js';
import { until } from '../../support/until.js';
import { controlledApp } from '../support/controlled-app.js';
import { VERSIONS, around } from '../support/express-app.js';
import { Served } from '../support/served.js';

describe.each(VERSIONS)('a client of $version that hangs up', ({ express }) => {
  /** A handler that a client has left in the middle of its work. */
  async function left(handler: RequestHandler, route = lockedRoute) {
    const { app, control, locks } = controlledApp(express);
    let response!: Response;
    app.use((_request, each, next) => ((response = each), next()));
    route(app, locks, handler);
    app.use(lockErrorHandler());
    app.use((_error: unknown, _request: Request, each: Response, _next: unknown) => void each);
    const served = await Served.start(app);
    const wire = await served.connect();
    wire.send('/42');
    await control.untilHeld('order:42');
    const closed = new Promise((resolve) => response.once('close', resolve));
    wire.destroy();
    await closed;
    await served.untilAlone();
    await new Promise(setImmediate);
    return {
      response,
      control,
      isHeld: () => control.held().length > 0,
      untilFree: () => until(() => control.held().length === 0),
      [Symbol.asyncDispose]: () => served[Symbol.asyncDispose](),
    };
  }

  type Locks = ReturnType<typeof controlledApp>['locks'];

  function lockedRoute(app: Express, locks: Locks, handler: RequestHandler): void {
    app.get('/:id', lockRequest('order:<params.id>', { locks }), handler);
  }

  function lockedHandler(app: Express, locks: Locks, handler: RequestHandler): void {
    app.get('/:id', lockHandler('order:<params.id>', { locks }, handler));
  }

  function unsafeRoute(app: Express, locks: Locks, handler: RequestHandler): void {
    const options = { locks, unsafeReleaseOnDisconnect: true };
    app.get('/:id', lockRequest('order:<params.id>', options), handler);
  }

  const waits = () => {};
  const signalOf = (response: Response) => response.locals['lockSignal'] as AbortSignal;

  it('frees nothing while its handler is at work: five tries to pay make one charge', async () => {
    const { app, control, locks } = controlledApp(express);
    let charges = 0;
    let inside = 0;
    let most = 0;
    const bank: (() => void)[] = [];
    app.post('/:id', lockRequest('order:<params.id>', { locks }), (_request, response) => {
      most = Math.max(most, ++inside);
      bank.push(() => {
        inside--;
        charges++;
        response.json({});
      });
    });
    await using served = await Served.start(app);
    for (let n = 0; n < 5; n++) {
      const wire = await served.connect();
      wire.send('POST /42');
      await until(() => control.waiters() > 0 || (n === 0 && bank.length === 1));
      wire.destroy();
      await served.untilAlone();
    }
    await until(() => control.waiters() === 0);
    expect({ most, begun: bank.length, charges }).toEqual({ most: 1, begun: 1, charges: 0 });
    bank[0]!();
    await until(() => control.held().length === 0);
    expect(charges).toBe(1);
  });

  it.each<[string, (response: Response) => unknown]>([
    ['response.end', (response) => response.end()],
    ['response.json', (response) => response.json({})],
    ['response.send', (response) => response.send('x')],
    ['response.sendStatus', (response) => response.sendStatus(204)],
    ['response.redirect', (response) => response.redirect('/')],
    ['response.destroy', (response) => response.destroy()],
  ])('and frees it with %s', async (_, finish) => {
    await using request = await left(waits);
    expect(request.isHeld()).toBe(true);
    finish(request.response);
    await request.untilFree();
  });

  it('and frees it at once when the response was ended before', async () => {
    const much = 'x'.repeat(32 * 1024 * 1024);
    await using request = await left((_request, response) => void response.end(much));
    await request.untilFree();
  });

  it('tells the handler by the signal, whose reason is no loss', async () => {
    await using request = await left(waits);
    const { aborted, reason } = signalOf(request.response);
    expect([aborted, reason.name, reason.message]).toEqual([
      true,
      'AbortError',
      'The client went away before its answer was sent',
    ]);
    expect(request.response.locals['lock'].isHeld).toBe(true);
    request.response.end();
    await request.untilFree();
  });

  it('frees it when what is piped into the response has closed', async () => {
    const source = new PassThrough();
    source.on('end', () => {});
    await using request = await left((_request, response) => {
      pipeline(source, response).catch(() => {});
      source.write('begun');
    });
    await request.untilFree();
    expect(source.closed).toBe(true);
  });

  it.each<[string, (response: Response) => unknown]>([
    ['pipe', (response) => createReadStream(__filename).pipe(response)],
    ['pipeline', (response) => pipeline(createReadStream(__filename), response).catch(() => {})],
    ['response.sendFile', (response) => response.sendFile(__filename)],
    ['response.sendFile, which another waits for', (response) => response.sendFile(__filename, () => {})], // prettier-ignore
  ])('frees it when a file is sent without a client: %s', async (_, send) => {
    await using request = await left(waits);
    send(request.response);
    await request.untilFree();
  });

  it('frees nothing while a source that is piped to no client has given nothing', async () => {
    const source = new PassThrough();
    await using request = await left(waits);
    source.pipe(request.response);
    await new Promise(setImmediate);
    await new Promise(setImmediate);
    expect(request.isHeld()).toBe(true);
    source.write('found');
    await request.untilFree();
  });

  it('frees nothing when something was piped before that had ended', async () => {
    const source = new PassThrough();
    let unpiped!: Promise<unknown>;
    await using request = await left((_request, response) => {
      unpiped = new Promise((resolve) => response.once('unpipe', resolve));
      source.pipe(response, { end: false });
      source.end('the first part');
    });
    await unpiped;
    expect(request.isHeld()).toBe(true);
    request.response.end();
    await request.untilFree();
  });

  it('frees it when the error of its handler reaches lockErrorHandler behind the first byte', async () => {
    let fail!: (error: Error) => void;
    await using request = await left((_request, response, next) => {
      response.write('begun');
      fail = next;
    });
    expect(request.isHeld()).toBe(true);
    fail(new Error('broken'));
    await request.untilFree();
  });

  it('frees nothing that its handler has promised to work on', async () => {
    const work = new Deferred();
    await using request = await left(() => work.promise, lockedHandler);
    expect(request.isHeld()).toBe(true);
    request.response.end(); // work goes on behind it
    expect(request.isHeld()).toBe(true);
    work.resolve();
    await request.untilFree();
  });

  it('frees it when the promise of its handler rejects', async () => {
    const work = new Deferred();
    await using request = await left(() => work.promise, lockedHandler);
    work.reject(new Error('broken'));
    await request.untilFree();
  });

  it('lockHandler waits for the response of a handler that promises nothing', async () => {
    await using request = await left(waits, lockedHandler);
    expect(request.isHeld()).toBe(true);
    request.response.end();
    await request.untilFree();
  });

  it('unsafeReleaseOnDisconnect frees it at once, and the signal tells of the loss', async () => {
    await using request = await left(waits, unsafeRoute);
    await request.untilFree();
    expect(signalOf(request.response).reason).toMatchObject({
      code: 'LOCK_LOST',
      reason: 'released',
    });
  });
});

it.each(VERSIONS)(
  'a request of $version that never ends has its lock for five minutes',
  async ({ express }) => {
    const { app, locks, others, clock } = around(express);
    const overdue = jest.fn();
    locks.events.on('overdue', overdue);
    let response!: Response;
    app.get('/', lockRequest('a', { locks }), (_request, each) => void (response = each));
    await using served = await Served.start(app);
    (await served.connect()).send('/');
    await until(() => response);
    await clock.advance(299_000);
    expect(await others.tryAcquire('a')).toBeUndefined();
    await clock.advance(1_000);
    expect(await others.tryAcquire('a')).toBeDefined();
    expect(response.locals['lockSignal'].reason).toMatchObject({ reason: 'max-hold' });
    expect(overdue).toHaveBeenCalledWith(expect.objectContaining({ key: 'a', maxHold: 300_000 }));
  },
);

describe.each(VERSIONS)('lockHandler in $version', ({ express }) => {
  it('gives what its handler rejects with, or throws, to the error handlers', async () => {
    const { app, locks } = controlledApp(express);
    app.get('/rejects', lockHandler('a', { locks }, () => Promise.reject(new Error('rejected')))); // prettier-ignore
    const broken = () => {
      throw new Error('thrown');
    };
    app.get('/throws', lockHandler('a', { locks }, broken));
    app.get('/nothing', lockHandler('a', { locks }, () => Promise.reject(undefined))); // prettier-ignore
    app.use((error: Error, _request: Request, response: Response, _next: unknown) => {
      response.status(418).send(error.message);
    });
    await using served = await Served.start(app);
    const bodies = ['rejects', 'throws', 'nothing'].map(async (path) => {
      const answer = await fetch(`${served.url}/${path}`);
      return [answer.status, await answer.text()];
    });
    expect(await Promise.all(bodies)).toEqual([
      [418, 'rejected'],
      [418, 'thrown'],
      [418, 'undefined was thrown in place of an error'],
    ]);
  });

  it('holds the lock until its promise has settled, behind the answer', async () => {
    const { app, control, locks } = controlledApp(express);
    const work = new Deferred();
    const handler = lockHandler('a', { locks }, async (_request, response: Response) => {
      response.json({ isHeld: response.locals['lock'].isHeld });
      await work.promise;
    });
    app.get('/', handler);
    await using served = await Served.start(app);
    expect(await (await fetch(served.url)).json()).toEqual({ isHeld: true });
    expect(control.held()).toEqual(['a']);
    work.resolve();
    await until(() => control.held().length === 0);
  });

  it('refuses what is no handler', () => {
    const { locks } = controlledApp(express);
    expect(() => lockHandler('a', { locks }, 'pay' as never)).toThrow(
      'lockHandler: the handler must be a function, got the string "pay"',
    );
    const unsafe = { locks, unsafeReleaseOnDisconnect: 'yes' as never };
    expect(() => lockRequest('a', unsafe)).toThrow(
      'lockRequest: unsafeReleaseOnDisconnect must be a boolean, got the string "yes"',
    );
  });
});
