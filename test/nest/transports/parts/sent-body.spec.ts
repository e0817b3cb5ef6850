import { PassThrough, Readable } from 'node:stream';
import { StreamableFile } from '@nestjs/common';
import type { CallScope } from '../../../../lib/nest/transports/locked-iterator';
import { isAsyncIterable, sentBody } from '../../../../lib/nest/transports/sent-body';
import { watch } from '../../../core/support/outcome';
import { settled } from '../../../stores/redlock/support/stub-quorum';

/** A scope that counts what runs inside. */
function aScope() {
  const run = jest.fn(<T>(step: () => T): T => step());
  const scope = { run, assertKept: jest.fn(), lock: {}, leave: jest.fn() };
  return { run, scope: scope as unknown as CallScope };
}

const { scope } = aScope();

async function ended(promise: Promise<unknown>): Promise<string> {
  const outcome = watch(promise);
  for (let turn = 0; turn < 20 && outcome.status === 'pending'; turn++) await settled();
  return outcome.status;
}

describe('A stream that a handler has returned', () => {
  it('is sent as it is, and ends when it has been read', async () => {
    const stream = new PassThrough();
    const body = sentBody(stream, scope)!;
    expect(body.value).toBe(stream);
    expect(body.failsQuietly).toBeUndefined();
    expect(await ended(body.ended)).toBe('pending');
    stream.end('x');
    stream.resume();
    expect(await ended(body.ended)).toBe('fulfilled');
  });

  it('is destroyed when it is stopped, and left when it has ended', async () => {
    const stream = new PassThrough();
    const errors = jest.fn();
    stream.on('error', errors);
    const body = sentBody(stream, scope)!;
    const error = new Error('lost');
    body.stop(error);
    expect(await ended(body.ended)).toBe('fulfilled');
    expect([stream.destroyed, errors.mock.calls]).toEqual([true, [[error]]]);
    const destroy = jest.spyOn(stream, 'destroy');
    body.stop();
    expect(destroy).not.toHaveBeenCalled();
  });

  it('may be one that cannot be destroyed', () => {
    const stream = new PassThrough();
    const body = sentBody(stream, scope)!;
    Object.assign(stream, { destroy: undefined });
    expect(body.stop()).toBeUndefined();
  });

  it('is in a file, which fails quietly', async () => {
    const stream = Readable.from(['x']);
    const file = new StreamableFile(stream);
    const body = sentBody(file, scope)!;
    expect([body.value, body.failsQuietly]).toEqual([file, true]);
    stream.resume();
    expect(await ended(body.ended)).toBe('fulfilled');
  });

  it('is none in a file without one', () => {
    const file = { getStream: () => 5, getHeaders: () => ({}) };
    expect(sentBody(file, scope)).toBeUndefined();
  });
});

describe('A web stream that a handler has returned', () => {
  const three = (cancel?: () => void) =>
    new ReadableStream<number>({
      start(controller) {
        for (const value of [1, 2, 3]) controller.enqueue(value);
        if (!cancel) controller.close();
      },
      ...(cancel && { cancel }),
    });

  it('is read inside, and sent as a copy', async () => {
    const own = aScope();
    const body = sentBody(three(), own.scope)!;
    const values: unknown[] = [];
    for await (const value of body.value as ReadableStream) values.push(value);
    expect(values).toEqual([1, 2, 3]);
    expect(own.run).toHaveBeenCalled();
    expect(await ended(body.ended)).toBe('fulfilled');
  });

  it('is cancelled when it is stopped', async () => {
    const cancel = jest.fn();
    const body = sentBody(three(cancel), scope)!;
    body.stop();
    expect(await ended(body.ended)).toBe('fulfilled');
    expect(cancel).toHaveBeenCalledTimes(1);
  });

  it('is none where something else reads it', () => {
    const stream = three();
    stream.getReader();
    expect(sentBody(stream, scope)).toBeUndefined();
    const response = new Response('text');
    response.body!.getReader();
    expect(sentBody(response, scope)).toBeUndefined();
  });

  it('is in a response, of which a copy is sent', async () => {
    const response = new Response('text', { status: 201, statusText: 'Made', headers: { a: 'b' } });
    Object.defineProperty(response, 'url', { value: 'http://h/' });
    Object.defineProperty(response, 'redirected', { value: true });
    const copy = sentBody(response, scope)!.value as Response;
    expect(copy).not.toBe(response);
    expect([copy.status, copy.statusText, copy.headers.get('a')]).toEqual([201, 'Made', 'b']);
    expect([copy.url, copy.redirected, copy.type]).toEqual(['http://h/', true, 'default']);
    expect(await copy.text()).toBe('text');
  });

  it('is in a response of another package, with a stream of Node', () => {
    const body = new PassThrough();
    const response = { body, [Symbol.toStringTag]: 'Response' };
    expect(sentBody(response, scope)!.value).toBe(response);
  });

  it('is in no response without a body', () => {
    expect(sentBody(new Response(null), scope)).toBeUndefined();
  });
});

describe('An iterable that a handler has returned', () => {
  it('is iterated inside, from its first step on', async () => {
    const own = aScope();
    const source = {
      async *[Symbol.asyncIterator]() {
        yield 1;
        yield 2;
      },
    };
    const body = sentBody(source, own.scope)!;
    expect(own.run).toHaveBeenCalledTimes(1);
    const values: unknown[] = [];
    for await (const value of body.value as AsyncIterable<unknown>) values.push(value);
    expect(values).toEqual([1, 2]);
    expect(await ended(body.ended)).toBe('fulfilled');
  });

  it('is closed when it is stopped, also one that fails then', async () => {
    const close = jest.fn().mockRejectedValue(new Error('failed'));
    const source = { [Symbol.asyncIterator]: () => ({ next: jest.fn(), return: close }) };
    const body = sentBody(source, scope)!;
    body.stop();
    expect(await ended(body.ended)).toBe('fulfilled');
    expect(close).toHaveBeenCalledTimes(1);
  });

  it.each([
    ['a value', 5],
    ['nothing', undefined],
    ['null', null],
    ['an object', {}],
    ['a list', [1]],
    ['a half of a stream', { pipe: () => {} }],
    ['the other half', { on: () => {} }],
    ['a half of a file', { getStream: () => {} }],
    ['a thenable', Object.assign(Promise.resolve(), { [Symbol.asyncIterator]: () => {} })],
  ])('is none: %s', (_, value) => {
    expect(sentBody(value, scope)).toBeUndefined();
    expect(isAsyncIterable(value)).toBe(false);
  });
});
