import type { Request, Response } from 'express';
import { lockRequest } from 'nest-holdfast/express';
import { until } from '../../support/until.js';
import { controlledApp } from '../support/controlled-app.js';
import { VERSIONS } from '../support/express-app.js';
import { Served } from '../support/served.js';

describe.each(VERSIONS)('connections of $version', ({ express }) => {
  const ok = (_request: Request, response: Response) => void response.send('ok');

  it('keep-alive: each request has the lock for itself, one after the other', async () => {
    const { app, control, locks } = controlledApp(express);
    app.get('/:n', lockRequest('a', { locks }), (request, response) => {
      response.send(`answer ${request.params.n}, held: ${response.locals['lock'].isHeld}`);
    });
    await using served = await Served.start(app);
    const wire = await served.connect();
    for (const n of [1, 2, 3]) {
      wire.send(`/${n}`);
      await wire.until(`answer ${n}, held: true`);
      await until(() => control.held().length === 0);
    }
  });

  it('pipelined requests for one key come one after the other, in their order', async () => {
    const { app, locks } = controlledApp(express);
    const log: string[] = [];
    app.get('/:n', lockRequest('a', { locks }), (request, response) => {
      log.push(`+${request.params.n}`);
      response.once('close', () => log.push(`-${request.params.n}`));
      setImmediate(() => response.send(`answer ${request.params.n}`));
    });
    await using served = await Served.start(app);
    const wire = await served.connect();
    const all = Array.from({ length: 20 }, (_, n) => n + 1);
    wire.send(...all.map((n) => `/${n}`));
    await wire.until('answer 20');
    expect(wire.statuses).toEqual(all.map(() => 200));
    expect(log.slice(0, 6)).toEqual(['+1', '-1', '+2', '-2', '+3', '-3']);
  });

  it('a pipelined request does not keep the lock from one that is answered before it', async () => {
    const { app, control, locks } = controlledApp(express);
    let goOn!: () => void;
    app.get('/first', (_request, _response, next) => void (goOn = next));
    app.get(['/first', '/second'], lockRequest('a', { locks, waitTimeout: 1_000 }), ok);
    await using served = await Served.start(app);
    const wire = await served.connect();
    wire.send('/first', '/second');
    await until(() => goOn);
    await new Promise(setImmediate); // the second one has been parsed with the first
    expect(control.held()).toEqual([]);
    goOn();
    await until(() => wire.statuses.length === 2);
    expect(wire.statuses).toEqual([200, 200]);
  });

  it('a client that goes away takes all its pipelined requests with it', async () => {
    const { app, control, locks } = controlledApp(express);
    const ran = jest.fn(ok);
    const arrived: string[] = [];
    app.use((request, _response, next) => {
      arrived.push(request.path);
      next();
    });
    app.get('/held', lockRequest('a', { locks }), (_request, response) => {
      response.locals['lockSignal'].addEventListener('abort', () => response.end());
    });
    app.get('/other', lockRequest('b', { locks }), ran);
    app.get('/wait', lockRequest('a', { locks }), ran);
    await using served = await Served.start(app);
    const wire = await served.connect();
    wire.send('/held', '/other', '/wait');
    await control.untilHeld('a');
    await until(() => arrived.length === 3);
    wire.destroy();
    await served.untilAlone();
    await until(() => control.held().length === 0);
    expect(control.waiters()).toBe(0);
    expect(await locks.withLock(['a', 'b'], { waitTimeout: 0 }, () => 'free')).toBe('free');
    expect(ran).not.toHaveBeenCalled();
  });

  it('a request on one connection waits for that of another, and gets the lock when that one goes away and is done', async () => {
    const { app, control, locks } = controlledApp(express);
    let hanging!: Response;
    app.get(
      '/hang',
      lockRequest('a', { locks }),
      (_request, response) => void (hanging = response),
    );
    app.get('/ok', lockRequest('a', { locks }), ok);
    await using served = await Served.start(app);
    const [leaving, waiting] = await Promise.all([served.connect(), served.connect()]);
    leaving.send('/hang');
    await control.untilHeld('a');
    waiting.send('/ok');
    await control.untilWaiting('a');
    expect(waiting.statuses).toEqual([]);
    leaving.destroy();
    await until(() => hanging.destroyed);
    expect(waiting.statuses).toEqual([]);
    hanging.end();
    await waiting.until('ok');
    expect(waiting.statuses).toEqual([200]);
  });
});
