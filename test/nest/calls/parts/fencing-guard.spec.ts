import { HttpException } from '@nestjs/common';
import { ROUTE_ARGS_METADATA } from '@nestjs/common/constants';
import type { ExecutionContext } from '@nestjs/common';
import { FencingGate } from '../../../../lib/fencing';
import type { FencedHolder } from '../../../../lib/fencing';
import { CurrentFence, FencingGuard } from '../../../../lib/nest/calls/fencing-guard';
import { errorOf, rejectionOf } from '../../../core/support/outcome';
import { contextOf } from '../../support/fake-context';

interface FencedRequest {
  readonly params: object;
  readonly headers: object;
  fence?: FencedHolder;
}

const requestOf = (token?: string): FencedRequest => ({
  params: { id: '7' },
  headers: token === undefined ? {} : { 'fencing-token': token },
});
const guard = (options: object = {}) =>
  new FencingGuard('order:<request.params.id>', { gate: new FencingGate(), ...options });
const enter = (own: FencingGuard, request: FencedRequest) =>
  own.canActivate(contextOf({ args: [request, {}] }));

describe('A guard of a fenced resource', () => {
  it('admits a token for the key that the request names, and leaves the fence there', async () => {
    const request = requestOf('5');
    expect(await enter(guard(), request)).toBe(true);
    expect(request.fence).toEqual({ key: 'order:7', fencingToken: 5n });
  });

  it('takes its key from a function of the request', async () => {
    const own = new FencingGuard(
      (request: FencedRequest) => `own:${Object.keys(request.params)[0]}`,
      {
        gate: new FencingGate(),
      },
    );
    const request = requestOf('5');
    await enter(own, request);
    expect(request.fence!.key).toBe('own:id');
  });

  it.each([
    ['a stale one', '4', 409, 'The fencing token is stale', 'LOCK_STALE'],
    ['none', undefined, 428, 'The fencing token is missing', 'LOCK_TOKEN_INVALID'],
    ['a malformed one', 'five', 400, 'The fencing token is not valid', 'LOCK_TOKEN_INVALID'],
  ])('refuses %s', async (_, token, statusCode, message, code) => {
    const own = guard();
    await enter(own, requestOf('5'));
    const request = requestOf(token);
    const error = await rejectionOf<HttpException>(enter(own, request));
    expect(error).toBeInstanceOf(HttpException);
    expect(error.getStatus()).toBe(statusCode);
    expect(error.getResponse()).toEqual({ statusCode, message, code });
    expect(error.cause).toMatchObject({ code });
    expect(request.fence).toBeUndefined();
  });

  it('lets a request through without one where it is told so', async () => {
    const request = requestOf();
    expect(await enter(guard({ missing: 'pass' }), request)).toBe(true);
    expect(request.fence).toBeUndefined();
  });

  it('fails with an error of its gate as it is', async () => {
    const down = new Error('down');
    const gate = { enter: () => Promise.reject(down) };
    expect(await rejectionOf(enter(guard({ gate }), requestOf('5')))).toBe(down);
  });

  it('refuses what is no request of HTTP', async () => {
    const context = contextOf({ type: 'rpc', args: [requestOf('5'), {}] });
    expect((await rejectionOf(guard().canActivate(context))).message).toBe('FencingGuard guards HTTP handlers only, this one is for rpc'); // prettier-ignore
  });

  it('refuses bad options where it is made', () => {
    const error = errorOf(() => new FencingGuard('order', {} as never));
    expect(error.message).toMatch(/^FencingGuard: gate must be a FencingGate/);
    expect(errorOf(() => guard({ missing: 'maybe' })).message).toMatch(/: missing must be/);
  });
});

describe('The fence of a request', () => {
  it('fills a parameter of its handler', () => {
    class Handlers {
      run(@CurrentFence() _fence?: FencedHolder) {}
    }
    const args = Reflect.getMetadata(ROUTE_ARGS_METADATA, Handlers, 'run') as object;
    const [{ factory }] = Object.values(args) as [
      { factory: (data: unknown, context: ExecutionContext) => unknown },
    ];
    const fence = { key: 'a', fencingToken: 1n };
    expect(factory(undefined, contextOf({ args: [{ fence }, {}] }))).toBe(fence);
    expect(factory(undefined, contextOf({ args: [{}, {}] }))).toBeUndefined();
  });
});
