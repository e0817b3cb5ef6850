import { EventEmitter } from 'node:events';
import { PassThrough } from 'node:stream';
import { Controller, Next, Res } from '@nestjs/common';
import {
  cutShort,
  httpResponse,
  ownResponse,
  responseOver,
  sendsItself,
} from '../../../../lib/nest/transports/http-response';
import type { HttpResponse } from '../../../../lib/nest/transports/http-response';
import { HandlerWork } from '../../../../lib/http/handler-work';
import { settled } from '../../../stores/redlock/support/stub-quorum';
import { watch } from '../../../core/support/outcome';
import { contextOf } from '../../support/fake-context';

function aResponse(fields: Partial<HttpResponse> = {}) {
  const response = Object.assign(new EventEmitter(), {
    headersSent: false,
    writableEnded: false,
    writableFinished: false,
    destroyed: false,
    end: jest.fn(),
    destroy: jest.fn(),
    ...fields,
  });
  return response as typeof response & HttpResponse;
}

describe('The response of a handler', () => {
  it('is that of Node, which a reply of Fastify has inside', () => {
    const response = aResponse();
    expect(httpResponse(contextOf({ args: [{}, response] }))).toBe(response);
    expect(httpResponse(contextOf({ args: [{}, { raw: response }] }))).toBe(response);
  });

  it.each([
    ['of another transport', contextOf({ type: 'ws', args: [{}, aResponse()] })],
    ['that gets none', contextOf({ args: [{}] })],
    ['whose response tells nothing', contextOf({ args: [{}, {}] })],
  ])('is missing for a handler %s', (_, context) => {
    expect(httpResponse(context)).toBeUndefined();
  });

  it.each(['finish', 'close'])('is over with `%s`, and listens no more then', async (event) => {
    const response = aResponse();
    const socket = new EventEmitter();
    const over = watch(responseOver(response, contextOf({ args: [{ socket }, response] })));
    await settled();
    expect(over.status).toBe('pending');
    response.emit(event);
    await settled();
    expect(over.status).toBe('fulfilled');
    expect(response.eventNames()).toEqual([]);
  });

  it('is over with its socket', async () => {
    const response = aResponse();
    const socket = new EventEmitter();
    const over = watch(
      responseOver(response, contextOf({ args: [{ raw: { socket } }, response] })),
    );
    socket.emit('close');
    await settled();
    expect(over.status).toBe('fulfilled');
    expect(response.eventNames()).toEqual([]);
  });

  it('is waited for without a socket, too', async () => {
    const response = aResponse();
    const over = watch(responseOver(response, contextOf({ args: [undefined, response] })));
    response.emit('finish');
    await settled();
    expect(over.status).toBe('fulfilled');
  });

  it.each([
    ['has been sent', { writableFinished: true }],
    ['is closed', { destroyed: true }],
  ])('is over at once where it %s', async (_, fields) => {
    const response = aResponse(fields);
    const over = watch(responseOver(response, contextOf({ args: [{}, response] })));
    await settled();
    expect([over.status, response.eventNames()]).toEqual(['fulfilled', []]);
  });

  it.each([
    [true, { headersSent: true }, false],
    [false, { headersSent: true, writableEnded: true }, false],
    [false, { headersSent: false }, false],
    [true, { headersSent: false }, true],
    [false, { headersSent: false, writableEnded: true }, true],
  ])('is cut short: %s, for %j, even before it begins: %s', (isCut, fields, even) => {
    const destroy = jest.fn();
    cutShort(aResponse({ ...fields, destroy }), even);
    expect(destroy).toHaveBeenCalledTimes(isCut ? 1 : 0);
  });

  it('is not cut short before it begins, unless that is said', () => {
    const destroy = jest.fn();
    cutShort(aResponse({ destroy }));
    expect(destroy).not.toHaveBeenCalled();
  });
});

describe('A body that a handler sends itself', () => {
  it('has ended with the response, the handler and what was piped into it', async () => {
    const response = aResponse();
    let end!: () => void;
    const over = new Promise<void>((resolve) => (end = resolve));
    const { ended, stop, failsQuietly } = ownResponse(response, over);
    expect(failsQuietly).toBe(true);
    stop();
    const source = new PassThrough();
    source.resume();
    response.emit('pipe', source);
    const outcome = watch(ended);
    end();
    await settled();
    HandlerWork.of(response).finish();
    await settled();
    expect(outcome.status).toBe('pending');
    source.destroy();
    while (outcome.status === 'pending') await settled();
    expect(outcome.status).toBe('fulfilled');
  });

  it('has not ended while the handler is at work', async () => {
    const response = aResponse();
    const outcome = watch(ownResponse(response, Promise.resolve()).ended);
    await settled();
    expect(outcome.status).toBe('pending');
    response.end();
    await settled();
    expect(outcome.status).toBe('fulfilled');
  });
});

describe('A handler sends its response itself', () => {
  @Controller()
  class Handlers {
    whole(@Res() _response: unknown) {}
    next(@Next() _next: unknown) {}
    passing(@Res({ passthrough: true }) _response: unknown) {}
    plain(_id: string) {}
  }

  it.each([
    ['with @Res()', 'whole', true],
    ['with @Next()', 'next', true],
    ['not with passthrough', 'passing', false],
    ['not without either', 'plain', false],
  ] as const)('%s', (_, property, expected) => {
    expect(sendsItself(Handlers, property)).toBe(expected);
  });

  it('never where its class is unknown', () => {
    expect(sendsItself(undefined, 'whole')).toBe(false);
  });
});
