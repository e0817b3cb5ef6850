import { HttpException } from '@nestjs/common';
import { RpcException } from '@nestjs/microservices';
import { WsException } from '@nestjs/websockets';
import { LockKeyError, LockLostError, LockStoreError, LockTimeoutError } from 'nest-holdfast';
import { resolvesField, withFieldErrors } from '../../../lib/nest/errors/field-errors';
import {
  graphqlError,
  httpException,
  toTransportError,
} from '../../../lib/nest/errors/lock-exceptions';
import { ofLocks, originOf } from '../../../lib/nest/errors/lock-origin';
import { ClientGoneException } from '../../../lib/nest/transports/client-gone';
import { rejectionOf } from '../../core/support/outcome';
import { contextOf } from '../support/fake-context';

const held = new LockTimeoutError('order:1', 0);
const lost = new LockLostError('order:1', 'expired');
const down = new LockStoreError('order:1', 'redis', 'it is away');
const invalid = new LockKeyError('no key', 'order:<id>');
const gone = new ClientGoneException();

const event = () => {};
Reflect.defineMetadata('microservices:handler_type', 2, event);

const http = (response: object = { header: jest.fn() }) => contextOf({ args: [{}, response] });
const of = (type: string) => contextOf({ type, args: [] });

describe('A lock error over HTTP', () => {
  it.each([
    [held, 409, 'The lock is held', 'LOCK_TIMEOUT'],
    [down, 503, 'The lock store is not available', 'LOCK_STORE_FAILED'],
    [invalid, 400, 'The request gives no valid lock key', 'LOCK_KEY_INVALID'],
  ])('is an exception that does not show it: %s', async (error, statusCode, message, code) => {
    const exception = (await toTransportError(error, http(), {})) as HttpException;
    expect(exception).toBeInstanceOf(HttpException);
    expect(exception.getStatus()).toBe(statusCode);
    expect(exception.getResponse()).toEqual({ statusCode, message, code });
    expect(exception.cause).toBe(error);
    expect(Object.keys(exception)).not.toContain('cause');
    expect(JSON.stringify(exception)).not.toContain('order:');
  });

  it('has the status and the key that the options say', async () => {
    const options = { busyStatus: 423, exposeKey: true };
    const exception = (await toTransportError(held, http(), options)) as HttpException;
    expect(exception.getResponse()).toEqual({
      statusCode: 423,
      message: 'The lock is held',
      code: 'LOCK_TIMEOUT',
      key: 'order:1',
    });
  });

  it.each([
    ['by one second, or two', {}, /^[12]$/],
    ['by what the options say, up to twice as much', { retryAfter: 10 }, /^(1\d|20)$/],
    ['at once', { retryAfter: 0 }, /^0$/],
  ])('tells the client when to come back: %s', async (_, options, expected) => {
    const header = jest.fn();
    await toTransportError(held, http({ header }), options);
    expect(header.mock.calls).toEqual([['Retry-After', expect.stringMatching(expected)]]);
  });

  it.each([
    ['for a request that would fail again', invalid, {}],
    ['where the headers have been sent', held, { headersSent: true }],
  ])('tells the client nothing more %s', async (_, error, fields) => {
    const header = jest.fn();
    await toTransportError(error, http({ header, ...fields }), {});
    expect(header).not.toHaveBeenCalled();
  });
});

describe('An error over any transport', () => {
  it.each(['http', 'rpc', 'ws'])(
    'comes back as it is where it is a fault of the program: %s',
    async (type) => {
      expect(await toTransportError(lost, of(type), {})).toBe(lost);
      const other = new Error('of the work');
      expect(await toTransportError(other, of(type), {})).toBe(other);
      expect(await toTransportError('thrown', of(type), {})).toBe('thrown');
    },
  );

  it('is an exception of microservices', async () => {
    const exception = (await toTransportError(held, of('rpc'), {})) as RpcException;
    expect(exception).toBeInstanceOf(RpcException);
    expect(exception.getError()).toEqual({ statusCode: 409, message: 'The lock is held', code: 'LOCK_TIMEOUT' }); // prettier-ignore
  });

  it('comes back as it is for an event, which Nest logs', async () => {
    const context = contextOf({ type: 'rpc', handler: event });
    expect(await toTransportError(held, context, {})).toBe(held);
  });

  it('is an exception of WebSockets', async () => {
    const exception = (await toTransportError(held, of('ws'), {})) as WsException;
    expect(exception).toBeInstanceOf(WsException);
    expect(exception.getError()).toEqual({ statusCode: 409, message: 'The lock is held', code: 'LOCK_TIMEOUT' }); // prettier-ignore
  });

  it('comes back as it is over one that is not known', async () => {
    expect(await toTransportError(held, of('commander'), {})).toBe(held);
  });

  it('is quiet where the client has gone', async () => {
    expect(await toTransportError(gone, of('http'), {})).toBe(gone);
    expect(await toTransportError(gone, of('graphql'), {})).toBe(gone);
    const rpc = (await toTransportError(gone, of('rpc'), {})) as RpcException;
    expect([rpc instanceof RpcException, rpc.getError()]).toEqual([true, gone.message]);
    const ws = (await toTransportError(gone, of('ws'), {})) as WsException;
    expect([ws instanceof WsException, ws.getError()]).toEqual([true, gone.message]);
  });
});

describe('A lock error over GraphQL', () => {
  it('is an exception that Nest does not log, where another request may go on', async () => {
    const error = (await toTransportError(held, of('graphql'), {
      exposeKey: true,
    })) as HttpException;
    expect([error instanceof HttpException, error.getStatus(), error.message]).toEqual([true, 409, 'The lock is held']); // prettier-ignore
    const extensions = { code: 'LOCK_TIMEOUT', key: 'order:1', http: { status: 409 } };
    expect(error).toMatchObject({ extensions });
  });

  it.each([
    [down, 503, 'The lock store is not available'],
    [lost, 500, 'Internal server error'],
  ])('is an error that Nest logs, where something is wrong: %s', (cause, status, message) => {
    const error = graphqlError(cause, { exposeKey: false });
    expect(error).not.toBeInstanceOf(HttpException);
    expect(error).toMatchObject({ message, cause, extensions: { code: cause.code, http: { status } } }); // prettier-ignore
  });

  it('has the status that the options say', () => {
    expect(graphqlError(held, { busyStatus: 503 })).not.toBeInstanceOf(HttpException);
    expect(graphqlError(held)).toMatchObject({ extensions: { http: { status: 409 } } });
  });
});

describe('A field of GraphQL', () => {
  it.each([
    [true, 'graphql:resolve_property'],
    [true, 'graphql:resolve_reference'],
    [false, 'graphql:resolver_type'],
  ])('is resolved by a method: %s, with %s', (expected, mark) => {
    const method = () => {};
    Reflect.defineMetadata(mark, 'field', method);
    expect(resolvesField(method)).toBe(expected);
  });

  it('is resolved by no other value', () => {
    expect(resolvesField(undefined)).toBe(false);
    expect(resolvesField({})).toBe(false);
  });

  it('fails with an error of GraphQL where its lock does', async () => {
    expect(await withFieldErrors(Promise.resolve(5))).toBe(5);
    const error = await rejectionOf(withFieldErrors(Promise.reject(held)));
    expect(error).toMatchObject({ extensions: { code: 'LOCK_TIMEOUT' } });
    const other = new Error('of the work');
    expect(await rejectionOf(withFieldErrors(Promise.reject(other)))).toBe(other);
  });
});

describe('The origin of an error', () => {
  it('is the instance whose lock has failed', () => {
    const error = new Error('failed');
    expect(originOf(error)).toBeUndefined();
    expect(ofLocks('reports', error)).toBe(error);
    expect(originOf(error)).toEqual({ locks: 'reports' });
    ofLocks(undefined, error);
    expect(originOf(error)).toEqual({ locks: undefined });
  });

  it('is that of its cause, where it has none', () => {
    const cause = new Error('lost');
    const error = new Error('the work is done', { cause });
    expect(originOf(error)).toBeUndefined();
    ofLocks('reports', cause);
    expect(originOf(error)).toEqual({ locks: 'reports' });
  });

  it('is known of objects only', () => {
    for (const thrown of ['text', undefined, null]) expect(ofLocks('reports', thrown)).toBe(thrown);
  });
});

describe('The exception of HTTP', () => {
  it('has its body, its status and its cause', () => {
    const exception = httpException({ message: 'x' }, 418, held);
    expect([exception.getStatus(), exception.getResponse(), exception.cause]).toEqual([418, { message: 'x' }, held]); // prettier-ignore
  });
});
