import { lockRequest } from 'nest-holdfast/express';
import request from 'supertest';
import { VERSIONS, around, tellError, tellKeys } from './support/express-app';

describe.each(VERSIONS)('what lockRequest locks in $version', ({ express }) => {
  it.each([
    ['order:<params.id>', ['order:a b']],
    ['q:<query.q:lower:trim>', ['q:x']],
    ['order:<body.order.id>', ['order:7']],
    ['tenant:<headers.x-tenant>', ['tenant:acme']],
    ['<method>:<params.id>', ['POST:a b']],
    [
      ['b:<params.id>', 'a:<body.order.id>', 'a:<body.order.id>'],
      ['a:7', 'b:a b'],
    ],
  ])('%j', async (template, keys) => {
    const { app, locks } = around(express);
    app.post('/orders/:id', lockRequest(template, { locks }), tellKeys);
    const response = await request(app)
      .post('/orders/a%20b?q=%20X%20')
      .set('X-Tenant', 'acme')
      .send({ order: { id: 7 } });
    expect(response.status).toBe(200);
    expect(response.body).toEqual(keys);
  });

  it.each([
    ['by its template', 'order:<params.id>', {}, 'order:<params.id>'],
    ['by its option', 'order:<params.id>', { name: 'order' }, 'order'],
    ['not at all for a function', () => 'order', {}, undefined],
  ])('is named %s', async (_, key, options, name) => {
    const { app, locks } = around(express);
    const held = jest.fn();
    locks.events.on('held', held);
    app.post('/orders/:id', lockRequest(key, { locks, ...options }), tellKeys);
    await request(app).post('/orders/7');
    expect(held).toHaveBeenCalledWith(expect.objectContaining({ name }));
  });

  it.each([
    ['one key', (id: string) => `order:${id}`, ['order:7']],
    ['several', (id: string) => [`b:${id}`, 'a'], ['a', 'b:7']],
  ])('is what a function of the request says: %s', async (_, keysOf, keys) => {
    const { app, locks } = around(express);
    const lock = lockRequest((req: { params: { id: string } } & Parts) => keysOf(req.params.id), {
      locks,
    });
    app.get('/orders/:id', lock, tellKeys);
    expect((await request(app).get('/orders/7')).body).toEqual(keys);
  });

  it.each([
    ['a missing part', '/orders/7', '<query.q> must be'],
    ['two values', '/orders/7?q=1&q=2', 'got an array'],
    ['an empty one', '/orders/7?q=', 'got the string ""'],
  ])('is not %s', async (_, url, problem) => {
    const { app, locks } = around(express);
    const handler = jest.fn(tellKeys);
    app.get('/orders/:id', lockRequest('q:<query.q>', { locks }), handler);
    app.use(tellError);
    const { body } = await request(app).get(url);
    expect(body).toMatchObject({
      code: 'LOCK_KEY_INVALID',
      status: 400,
      headers: {},
      message: expect.stringContaining(problem),
      publicMessage: 'The request gives no valid lock key',
    });
    expect(handler).not.toHaveBeenCalled();
  });

  it('has the options of the middleware', async () => {
    const { app, locks, others } = around(express);
    app.get('/', lockRequest('a', { locks, ttl: 1_234 }), async (_req, res) => {
      res.json((await others.inspect('a'))!.remaining);
    });
    expect((await request(app).get('/')).body).toBe(1_234);
  });

  it('can be locked again by the handler, and by middleware after it', async () => {
    const { app, locks, others } = around(express);
    const lock = lockRequest('order:<params.id>', { locks, reentrant: true });
    app.post('/orders/:id', lock, lock, async (req, res) => {
      await Promise.resolve();
      const key = `order:${req.params.id}`;
      const held = await locks.withLock(key, { reentrant: true }, (own) => own.fencingToken);
      res.json([
        held === res.locals['lock'].fencingToken,
        locks.current() === res.locals['lock'],
        (await others.tryAcquire(key)) === undefined,
      ]);
    });
    expect((await request(app).post('/orders/7').send({})).body).toEqual([true, true, true]);
  });

  it('is still that of the handler when the body is parsed behind it', async () => {
    const { locks } = around(express);
    const app = express();
    app.post('/', lockRequest('a', { locks }), express.json(), async (req, res) => {
      res.json([locks.current() === res.locals['lock'], req.body]);
    });
    const { body } = await request(app).post('/').send({ sku: 'lamp' }).expect(200);
    expect(body).toEqual([true, { sku: 'lamp' }]);
  });
});

interface Parts {
  readonly query: unknown;
  readonly headers: unknown;
}

describe('lockRequest refuses at its definition', () => {
  const { locks } = around(VERSIONS[0]!.express);
  const define = lockRequest as (...all: unknown[]) => unknown;

  it.each([
    ['no service', 'a', {}, ': locks must be a LockService, got undefined'],
    [
      'something else for a service',
      'a',
      { locks: { enter: 1 } },
      ': locks must be a LockService, got an object',
    ],
    ['an unknown option', 'a', { locks, wait: 5 }, 'lockRequest: unknown option "wait"; known'],
    [
      'a misspelt option',
      'a',
      { locks, busyStatsu: 423 },
      'lockRequest: unknown option "busyStatsu" (did you mean busyStatus?); known options are locks, ttl,',
    ],
    ['a signal', 'a', { locks, signal: AbortSignal.abort() }, 'unknown option "signal"'],
    ['no options', 'a', undefined, 'must be an object, such as { locks }, got undefined'],
    ['the service for options', 'a', locks, 'unknown option "events"; known options are locks'],
    ['a bad option', 'a', { locks, ttl: 0 }, 'lockRequest: ttl must be'],
    ['a bad busyStatus', 'a', { locks, busyStatus: 200 }, 'from 400 to 599, got 200'],
    ['a busyStatus too large', 'a', { locks, busyStatus: 600 }, 'from 400 to 599, got 600'],
    [
      'a busyStatus of text',
      'a',
      { locks, busyStatus: '409' },
      'busyStatus must be a whole number',
    ],
    ['a broken busyStatus', 'a', { locks, busyStatus: 409.5 }, 'got 409.5'],
    [
      'a bad retryAfter',
      'a',
      { locks, retryAfter: -1 },
      'retryAfter must be a whole number of seconds from 0',
    ],
    ['a broken retryAfter', 'a', { locks, retryAfter: 1.5 }, 'got 1.5'],
    [
      'a bad onError',
      'a',
      { locks, onError: 'throw' },
      `'next' or 'respond', got the string "throw"`,
    ],
    ['a bad template', 'a:<', { locks }, 'without its partner'],
    ['one of JavaScript', 'a:${params.id}', { locks }, 'Write <params.id>'],
    [
      'one in braces',
      'a:{params.id}',
      { locks },
      'lockRequest: {params.id} in "a:{params.id}" is no placeholder. Write <params.id>',
    ],
    ['a bad template in a list', ['a', '<a><b>'], { locks }, 'needs a separator'],
    ['no keys', [], { locks }, 'the key must be a template, a list of them, or a function'],
    ['a list of other things', ['a', 1], { locks }, 'the key must be a template'],
    ['no key', undefined, { locks }, 'a list of them, or a function, got undefined'],
  ])('%s', (_, key, options, problem) => {
    expect(() => define(key, options)).toThrow(problem);
  });

  it.each([
    { busyStatus: 400 },
    { busyStatus: 599 },
    { retryAfter: 0 },
    { onError: 'next' },
    { onError: undefined, busyStatus: undefined, retryAfter: undefined, ttl: undefined },
  ])('but not %j', (options) => {
    expect(() => define('a', { locks, ...options })).not.toThrow();
  });
});
