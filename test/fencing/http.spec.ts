import { Controller, Get, type ExecutionContext, UseGuards } from '@nestjs/common';
import type { NextFunction, Request, Response } from 'express';
import request from 'supertest';
import {
  FENCING_HEADER,
  type FencedHolder,
  FencingGate,
  LockStaleError,
  RedisFencingGate,
  fencedRequest,
  fencingHeaders,
} from '../../lib/fencing/index.js';
import { CurrentFence, FencingGuard } from '../../lib/nest/calls/fencing-guard.js';
import { VERSIONS } from '../express/support/express-app.js';
import { ADAPTERS, startApp } from '../nest/support/test-app.js';
import { OwnClient } from '../stores/redis/locks.js';
import { RedisServer } from '../support/servers/redis-server.js';
import { Listening } from './order-apps.js';

const MALFORMED = [
  '',
  '-1',
  '1.5',
  '1e3',
  '0x1f',
  ' ',
  '007',
  'abc',
  '9223372036854775808',
  '1, 2',
];
const STALE = 'The fencing token is stale';
const INVALID = 'The fencing token is not valid';
const HOUR = 3_600_000;
const MISSING = 'The fencing token is missing';

type PublicError = Error & { readonly status: number; readonly publicMessage: string };

/** The fence that reached a handler, as JSON can say it. */
const inWords = (fence: FencedHolder | undefined) => ({
  fence: fence ? `${fence.key} ${fence.fencingToken}` : 'none',
});

describe('fencingHeaders', () => {
  it('is the token in decimal digits', () => {
    const headers = fencingHeaders({ key: 'order:42', fencingToken: 2n ** 63n - 1n });
    expect(headers).toEqual({ 'Fencing-Token': '9223372036854775807' });
    expect(() => fencingHeaders({ key: 'a', fencingToken: 1 as never })).toThrow(TypeError);
  });
});

describe.each(VERSIONS)('fencedRequest in $version', ({ express }) => {
  beforeEach(() => jest.spyOn(console, 'error').mockReturnValue());
  afterEach(() => jest.restoreAllMocks());

  function around(
    options: object = {},
    key: string | ((given: Request) => string) = 'order:<params.id>',
  ) {
    const app = express();
    const gate = new FencingGate();
    const handler = jest.fn((_: Request, response: Response) => {
      response.json(inWords(response.locals['fence'] as FencedHolder | undefined));
    });
    app.get('/orders/:id', fencedRequest(key as string, { gate, ...options }), handler);
    const send = (token: string | undefined, id = '42') => {
      const sent = request(app).get(`/orders/${id}`);
      return token === undefined ? sent : sent.set(FENCING_HEADER, token);
    };
    return { app, gate, handler, send };
  }

  it('lets the same token in again, and larger ones, key by key', async () => {
    const { send } = around();
    expect((await send('5')).body).toEqual({ fence: 'order:42 5' });
    expect((await send('5')).status).toBe(200);
    expect((await send('7')).status).toBe(200);
    expect((await send('6')).status).toBe(409);
    expect((await send('6', '43')).status).toBe(200);
  });

  it.each([undefined, 'route'])(
    'lets nobody in where %j is thrown in place of an error',
    async (thrown) => {
      const { send, handler } = around({}, () => {
        throw thrown;
      });
      expect((await send('5')).status).toBe(500);
      const gone = around({ gate: { enter: jest.fn().mockRejectedValue(thrown) } });
      expect((await gone.send('5')).status).toBe(500);
      for (const each of [handler, gone.handler]) expect(each).not.toHaveBeenCalled();
    },
  );

  it("passes the error with its status to the application's handlers", async () => {
    const { app, send, handler } = around();
    const tell = jest.fn(
      (error: PublicError, _: Request, response: Response, _next: NextFunction) => {
        response.status(418).json({ status: error.status, said: error.publicMessage });
      },
    );
    app.use(tell);
    await send('2');
    expect((await send('1')).body).toEqual({ status: 409, said: STALE });
    expect((await send(undefined)).body).toEqual({ status: 428, said: MISSING });
    expect((await send('abc')).body).toMatchObject({ status: 400 });
    expect(tell.mock.calls[0]![0]).toBeInstanceOf(LockStaleError);
    expect(handler).toHaveBeenCalledTimes(1);
  });

  it('answers itself when it is asked to', async () => {
    const { send } = around({ onError: 'respond' });
    await send('2');
    const stale = await send('1');
    expect(stale.status).toBe(409);
    expect(stale.body).toEqual({ code: 'LOCK_STALE', message: STALE });
    const missing = await send(undefined);
    expect(missing.status).toBe(428);
    expect(missing.body).toEqual({ code: 'LOCK_TOKEN_INVALID', message: MISSING });
  });

  it.each(MALFORMED)('400 for the token %p', async (token) => {
    const { send, handler } = around({ missing: 'pass' });
    expect((await send(token)).status).toBe(400);
    expect(handler).not.toHaveBeenCalled();
  });

  it('400 for a forged token that would shut all holders out, without a word of it', async () => {
    const { send, gate, handler } = around({ onError: 'respond' });
    for (const forged of ['9223372036854775807', String((Date.now() + 2 * HOUR) * 1_000)]) {
      const response = await send(forged);
      expect(response.status).toBe(400);
      expect(response.body).toEqual({ code: 'LOCK_TOKEN_INVALID', message: INVALID });
    }
    expect(handler).not.toHaveBeenCalled();
    expect(gate.newest('order:42')).toBeUndefined();
    expect((await send(String(Date.now() * 1_000))).status).toBe(200);
  });

  it('asks for the largest token that there can be, each time, where tokens are not times', async () => {
    let revision = 17n;
    const { send } = around({ largestToken: () => revision });
    expect((await send('18')).status).toBe(400);
    revision = 18n;
    expect((await send('18')).status).toBe(200);
  });

  it.each([
    ['of more than 512 bytes', () => 'ü'.repeat(257)],
    ['that are lists', () => ['order:42']],
    ['that are none', () => undefined],
  ])('400 for keys %s', async (_, key) => {
    const { send, gate } = around({ onError: 'respond' }, key as () => string);
    const response = await send('1');
    expect(response.status).toBe(400);
    expect(response.body).toMatchObject({ code: 'LOCK_KEY_INVALID' });
    expect(gate.size).toBe(0);
  });

  it('400 for two tokens', async () => {
    const { app } = around({ onError: 'respond' });
    await using server = await Listening.start(app);
    const twice = new Headers([
      [FENCING_HEADER, '1'],
      [FENCING_HEADER, '2'],
    ]);
    const response = await fetch(`${server.url}/orders/42`, { headers: twice });
    expect(response.status).toBe(400);
  });

  it('lets requests without a token pass, where it is told to', async () => {
    const { send } = around({ missing: 'pass' });
    expect((await send(undefined)).body).toEqual({ fence: 'none' });
    await send('2');
    expect((await send('1')).status).toBe(409);
  });

  it('takes a function of the request, and 400 for a key that it cannot make', async () => {
    const byFunction = around({}, ({ params }) => `order:${String(params['id'])}`);
    expect((await byFunction.send('1')).body).toEqual({ fence: 'order:42 1' });
    const byQuery = around({ onError: 'respond' }, 'order:<query.id>');
    const response = await byQuery.send('1');
    expect(response.status).toBe(400);
    expect(response.body).toEqual({
      code: 'LOCK_KEY_INVALID',
      message: 'The request gives no valid lock key',
    });
  });

  it('shares the tokens that it has seen with other processes, over Redis, and lets no request in while it is down', async () => {
    const server = await RedisServer.start();
    await using own = new OwnClient(server.url, { maxRetriesPerRequest: 0 });
    const [here, there] = [1, 2].map(() => around({ gate: new RedisFencingGate(own.redis) }));
    expect((await here!.send('2')).status).toBe(200);
    expect((await there!.send('1')).status).toBe(409);
    expect((await there!.send('3')).status).toBe(200);
    await server.stop();
    expect((await here!.send('4')).status).toBe(500);
    expect(here!.handler).toHaveBeenCalledTimes(1);
  });

  it.each([
    ['order:<id', { gate: new FencingGate() }, '"<" or ">" without its partner'],
    [42, { gate: new FencingGate() }, 'fencedRequest: the key must be a template or a function'],
    [
      'a:{params.id}',
      { gate: new FencingGate() },
      '{params.id} in "a:{params.id}" is no placeholder',
    ],
    ['a', undefined, 'fencedRequest: the options must be an object, such as { gate }'],
    ['a', { gate: {} }, 'fencedRequest: gate must be a FencingGate'],
    ['a', { gate: new FencingGate(), missing: 'skip' }, "missing must be 'refuse' or 'pass'"],
    ['a', { gate: new FencingGate(), largestToken: 5n }, 'largestToken must be a function'],
    ['a', { gate: new FencingGate(), onError: 'throw' }, "onError must be 'next' or 'respond'"],
  ])('refuses misuse: %p, %p', (key, options, message) => {
    const make = () => fencedRequest(key as string, options as never);
    expect(make).toThrow(TypeError);
    expect(make).toThrow(message);
  });
});

describe.each(ADAPTERS)('FencingGuard on %s', (adapter) => {
  const gate = new FencingGate();

  @Controller('orders')
  class Orders {
    @Get(':id')
    @UseGuards(new FencingGuard('order:<request.params.id>', { gate }))
    order(@CurrentFence() fence?: FencedHolder) {
      return inWords(fence);
    }

    @Get(':id/lenient')
    @UseGuards(
      new FencingGuard(({ params }: { params: { id: string } }) => `lenient:${params.id}`, {
        gate,
        missing: 'pass',
      }),
    )
    lenient(@CurrentFence() fence?: FencedHolder) {
      return inWords(fence);
    }
  }

  it('refuses stale requests, missing tokens and malformed ones, each with its code', async () => {
    await using app = await startApp({ adapter, controllers: [Orders] });
    const send = (token: string) => app.http.get('/orders/42').set(FENCING_HEADER, token);
    expect((await send('2')).body).toEqual({ fence: 'order:42 2' });
    expect((await send('2')).status).toBe(200);
    const stale = await send('1');
    expect(stale.status).toBe(409);
    expect(stale.body).toEqual({ statusCode: 409, code: 'LOCK_STALE', message: STALE });
    const missing = await app.http.get('/orders/42');
    expect(missing.status).toBe(428);
    expect(missing.body).toEqual({ statusCode: 428, code: 'LOCK_TOKEN_INVALID', message: MISSING });
    const forged = String(2n ** 63n - 1n);
    for (const token of [...MALFORMED.filter((each) => each.trim() !== ''), forged]) {
      const { status, body } = await send(token);
      expect(status).toBe(400);
      expect(body).toEqual({ statusCode: 400, code: 'LOCK_TOKEN_INVALID', message: INVALID });
    }
    expect((await send('2')).status).toBe(200);
  });

  it('400 for two tokens', async () => {
    await using app = await startApp({ adapter, controllers: [Orders] });
    const twice = new Headers([
      [FENCING_HEADER, '1'],
      [FENCING_HEADER, '2'],
    ]);
    const url = await app.app.getUrl();
    expect((await fetch(`${url}/orders/42`, { headers: twice })).status).toBe(400);
  });

  it('lets requests without a token pass, where it is told to', async () => {
    await using app = await startApp({ adapter, controllers: [Orders] });
    expect((await app.http.get('/orders/42/lenient')).body).toEqual({ fence: 'none' });
    const fenced = await app.http.get('/orders/42/lenient').set(FENCING_HEADER, '3');
    expect(fenced.body).toEqual({ fence: 'lenient:42 3' });
  });
});

describe('FencingGuard', () => {
  it('lets nothing in that has no headers', async () => {
    const guard = new FencingGuard('a', { gate: new FencingGate() });
    const context = { getType: () => 'rpc' } as unknown as ExecutionContext;
    await expect(guard.canActivate(context)).rejects.toThrow(
      new TypeError('FencingGuard guards HTTP handlers only, this one is for rpc'),
    );
  });

  it('refuses misuse when it is made', () => {
    expect(() => new FencingGuard('a', {} as never)).toThrow(
      'FencingGuard: gate must be a FencingGate or a RedisFencingGate',
    );
  });
});
