import type { CallHandler, ExecutionContext } from '@nestjs/common';
import { ApplicationConfig, ModuleRef } from '@nestjs/core';
import {
  DistributedLock,
  DistributedLockInterceptor,
  type LockService,
  LockTimeoutError,
} from 'nest-holdfast';
import { from, lastValueFrom, throwError } from 'rxjs';
import { requestData } from '../../../lib/nest/transports/request-data.js';
import { startServices, type TestApp } from '../support/test-app.js';

/** An `ExecutionContext` as transports make it that are not installed here. */
function context(type: string, args: unknown[], handler: Function = () => {}): ExecutionContext {
  const http = { getRequest: () => args[0], getResponse: () => args[1], getNext: () => args[2] };
  return {
    getType: () => type,
    getArgs: () => args,
    getClass: () => class {},
    getHandler: () => handler,
    switchToHttp: () => http,
    switchToRpc: () => ({ getData: () => args[0], getContext: () => args[1] }),
    switchToWs: () => ({ getClient: () => args[0], getData: () => args[1] }),
  } as unknown as ExecutionContext;
}

describe('the values that <request.…> reads', () => {
  const user = { id: 'u1' };

  it.each<[string, object]>([
    ['req', { req: { user, headers: { 'x-t': 'acme' } } }],
    ['request', { request: { user, headers: { 'x-t': 'acme' } } }],
    ['extra.request', { extra: { request: { user, headers: { 'x-t': 'acme' } } } }],
    ['a user of its own', { user, req: { headers: { 'x-t': 'acme' } } }],
  ])('of GraphQL: the arguments, and the request in the context by %s', (_what, graphql) => {
    const data = requestData(context('graphql', [{}, { id: 7 }, graphql, {}]));
    expect(data).toMatchObject({ args: { id: 7 }, user });
    expect((data as { headers: object }).headers).toEqual({ 'x-t': 'acme' });
  });

  it('of GraphQL without a request: the arguments alone', () => {
    const data = requestData(context('graphql', [undefined, { id: 7 }, undefined, {}]));
    expect(data).toMatchObject({ args: { id: 7 }, user: undefined });
  });

  it('of messages: the data', () => {
    expect(requestData(context('rpc', [{ id: 7 }]))).toEqual({ data: { id: 7 } });
  });

  it('of WebSockets: data, headers of the handshake and user', () => {
    const io = { handshake: { headers: { a: '1' } }, data: { user } };
    expect(requestData(context('ws', [io, { id: 7 }]))).toMatchObject({
      data: { id: 7 },
      headers: { a: '1' },
      user,
    });
    const ws = { upgradeReq: { headers: { a: '2' } }, user };
    expect(requestData(context('ws', [ws, {}]))).toMatchObject({ headers: { a: '2' }, user });
    expect(requestData(context('ws', [undefined, {}]))).toMatchObject({ user: undefined });
  });

  it('of other transports: the arguments', () => {
    expect(requestData(context('necord', [1, 2]))).toEqual({ args: [1, 2] });
  });
});

describe('DistributedLockInterceptor on a GraphQL resolver', () => {
  class Resolver {
    locks!: LockService;

    @DistributedLock('order:<request.args.id>:<request.user.id>', { waitTimeout: 0 })
    async order() {
      return this.locks?.current()?.key ?? 'ran';
    }
  }

  let app: TestApp;
  let interceptor: DistributedLockInterceptor;

  beforeAll(async () => {
    app = await startServices([Resolver]);
    interceptor = new DistributedLockInterceptor(app.app.get(ModuleRef), new ApplicationConfig());
  });
  afterAll(() => app[Symbol.asyncDispose]());
  beforeEach(() => app.takeLog());

  const resolve = () => {
    const resolver = app.get(Resolver);
    // eslint-disable-next-line typescript/unbound-method -- Nest compares it, and calls it on its instance
    const { order } = resolver;
    const graphql = context('graphql', [{}, { id: 7 }, { user: { id: 'u1' } }, {}], order);
    const next: CallHandler = { handle: () => from(resolver.order()) };
    return lastValueFrom(interceptor.intercept(graphql, next));
  };

  it('gives it the arguments and the user', async () => {
    expect(await resolve()).toBe('ran');
    expect(app.log).toEqual(['+order:7:u1', '-order:7:u1']);
  });

  it('reports a held key the way GraphQL does', async () => {
    await app.elsewhere.withLock('order:7:u1', async () => {
      await expect(resolve()).rejects.toMatchObject({
        message: 'The lock is held',
        extensions: { code: 'LOCK_TIMEOUT', http: { status: 409 } },
        cause: { code: 'LOCK_TIMEOUT' },
      });
    });
  });

  it('leaves errors alone where it does not know the transport', async () => {
    const error = new LockTimeoutError('order:7', 0);
    const next: CallHandler = { handle: () => throwError(() => error) };
    const failing = lastValueFrom(interceptor.intercept(context('necord', []), next));
    await expect(failing).rejects.toBe(error);
  });
});
