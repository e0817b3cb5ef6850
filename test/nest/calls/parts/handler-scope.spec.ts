import { EventEmitter } from 'node:events';
import { PassThrough } from 'node:stream';
import { Controller, Res } from '@nestjs/common';
import { lastValueFrom, of, throwError } from 'rxjs';
import type { Observable } from 'rxjs';
import { HandlerWork } from '../../../../lib/http/handler-work';
import { HandlerScope } from '../../../../lib/nest/calls/handler-scope';
import type { LockPlan } from '../../../../lib/nest/plan/lock-plan';
import { deferred, errorOf } from '../../../core/support/outcome';
import { settled } from '../../../stores/redlock/support/stub-quorum';
import { contextOf } from '../../support/fake-context';

@Controller()
class Handlers {
  whole(@Res() _response: unknown) {}
  plain() {}
}

interface Called {
  readonly property?: keyof Handlers;
  readonly context?: (response: object) => ReturnType<typeof contextOf>;
}

/** The scope of a handler of HTTP, whose lock a test loses. */
function own({ property = 'plain', context }: Called = {}) {
  const abort = new AbortController();
  const leave = jest.fn().mockResolvedValue(true);
  const run = jest.fn(<T>(step: () => T): T => step());
  const assertKept = jest.fn();
  const inner = { lock: { signal: abort.signal }, leave, run, assertKept } as never;
  const response = Object.assign(new EventEmitter(), {
    headersSent: true,
    writableEnded: false,
    end: jest.fn(),
    destroy: jest.fn(),
  });
  const { destroy } = response; // before it is watched
  const http = () => contextOf({ of: Handlers, args: [{ socket: undefined }, response] });
  const plan = { label: '@X on Handlers.run', property } as LockPlan;
  const scope = new HandlerScope(inner, context?.(response) ?? http(), plan);
  return { scope, abort, leave, run, assertKept, response, destroy };
}

/** Until the scope has been left, or has not for long. */
async function turns(): Promise<void> {
  for (let turn = 0; turn < 20; turn++) await settled();
}

const message = () => contextOf({ type: 'rpc', args: [{}] });

describe('The scope of a handler', () => {
  it('is that of the lock', async () => {
    const { scope, abort, run, assertKept, leave } = own();
    expect(scope.lock.signal).toBe(abort.signal);
    expect(scope.run(() => 5)).toBe(5);
    expect(run).toHaveBeenCalledTimes(1);
    scope.assertKept('x');
    expect(assertKept.mock.calls).toEqual([['x']]);
    expect(await scope.leave()).toBe(true);
    expect(leave).toHaveBeenCalledTimes(1);
  });

  it('is left once the stream that it returned has ended, and the response is over', async () => {
    const { scope, leave, response } = own();
    const stream = new PassThrough();
    expect(scope.send(stream)).toBe(stream);
    expect(await scope.leave()).toBe(true);
    stream.end();
    stream.resume();
    await turns();
    expect(leave).not.toHaveBeenCalled();
    response.emit('finish');
    await turns();
    expect(leave).toHaveBeenCalledTimes(1);
  });

  it('ends a stream that has no reader any more', async () => {
    const { scope, leave, response } = own();
    const stream = new PassThrough();
    scope.send(stream);
    response.emit('close');
    await turns();
    expect(stream.destroyed).toBe(true);
    expect(await scope.leave()).toBe(true);
    await turns();
    expect(leave).toHaveBeenCalledTimes(1);
  });

  it('cuts the response short when the lock is lost, and stops the stream with the reason', async () => {
    const { scope, abort, destroy } = own();
    const stream = new PassThrough();
    const failed = jest.fn();
    stream.on('error', failed);
    scope.send(stream);
    abort.abort(new Error('lost'));
    await turns();
    expect(destroy).toHaveBeenCalledTimes(1);
    expect(failed.mock.calls).toEqual([[abort.signal.reason]]);
  });

  it('stops a stream that it returned after the lock was lost', async () => {
    const { scope, abort, destroy } = own();
    abort.abort(new Error('lost'));
    const stream = new PassThrough();
    stream.on('error', () => {});
    scope.send(stream);
    await turns();
    expect([destroy.mock.calls.length, stream.destroyed]).toEqual([1, true]);
  });

  it('hears of no loss once the stream has ended', async () => {
    const { scope, abort, destroy } = own();
    const stream = new PassThrough();
    scope.send(stream);
    stream.end();
    stream.resume();
    await turns();
    abort.abort(new Error('lost'));
    expect(destroy).not.toHaveBeenCalled();
  });

  it('sends what is no stream as it is, and keeps the lock no longer for it', async () => {
    const { scope, leave } = own();
    const result = {};
    expect(scope.send(result)).toBe(result);
    await scope.leave();
    expect(leave).toHaveBeenCalledTimes(1);
  });

  it('sends each value of an Observable', async () => {
    const { scope, run } = own();
    const values = {
      async *[Symbol.asyncIterator]() {
        yield 1;
      },
    };
    const sent = await lastValueFrom(scope.send(of(values)) as Observable<unknown>);
    expect(sent).not.toBe(values);
    expect(run).toHaveBeenCalledTimes(1);
  });

  it('keeps the lock while the work of a call goes on, also one that fails', async () => {
    const { scope, leave } = own();
    const work = deferred<number>();
    const result = scope.during(() => work.promise);
    const failing = scope.during(() => Promise.reject(new Error('failed')));
    await expect(failing).rejects.toThrow('failed');
    expect(await scope.leave()).toBe(true);
    await turns();
    expect(leave).not.toHaveBeenCalled();
    work.resolve(5);
    expect(await result).toBe(5);
    await turns();
    expect(leave).toHaveBeenCalledTimes(1);
  });

  it('refuses an iterable that its transport does not send', () => {
    const { scope } = own({ context: message });
    const iterable = { [Symbol.asyncIterator]: () => ({}) };
    expect(errorOf(() => scope.send(iterable)).message).toMatch(/^@X on Handlers.run returned an async iterable, which only HTTP handlers and/); // prettier-ignore
    expect([scope.send(5), scope.send(undefined)]).toEqual([5, undefined]);
  });

  it('closes what a subscription iterates over when its client goes away', async () => {
    const socket = new EventEmitter();
    const info = { operation: { operation: 'subscription' }, path: {} };
    const args = [{}, {}, { extra: { socket } }, info];
    const { scope } = own({ context: () => contextOf({ type: 'graphql', args }) });
    const close = jest.fn(async () => ({ done: true, value: undefined }));
    scope.send({ [Symbol.asyncIterator]: () => ({ next: jest.fn(), return: close }) });
    expect(close).not.toHaveBeenCalled();
    socket.emit('close');
    await turns();
    expect(close).toHaveBeenCalledTimes(1);
  });
});

describe('The scope of a handler that sends its response itself', () => {
  it('is left once the response is over, and the handler is done', async () => {
    const { scope, leave, response } = own({ property: 'whole' });
    scope.returned(undefined);
    await scope.leave();
    response.emit('finish');
    await turns();
    expect(leave).not.toHaveBeenCalled();
    HandlerWork.of(response as never).finish();
    await turns();
    expect(leave).toHaveBeenCalledTimes(1);
  });

  it('is left after the promise that the handler returned', async () => {
    const { scope, leave, response } = own({ property: 'whole' });
    const work = deferred<void>();
    scope.returned(work.promise);
    await scope.leave();
    response.end();
    response.emit('finish');
    await turns();
    expect(leave).not.toHaveBeenCalled();
    work.resolve();
    await turns();
    expect(leave).toHaveBeenCalledTimes(1);
  });

  it.each([
    ['ends', of(1)],
    ['fails', throwError(() => new Error('failed'))],
  ])('is left after the Observable that the handler returned: it %s', async (_, stream) => {
    const { scope, leave, response } = own({ property: 'whole' });
    await scope.leave();
    response.emit('finish');
    await turns();
    expect(leave).not.toHaveBeenCalled();
    (scope.send(stream) as Observable<unknown>).subscribe({ error: () => {} });
    await turns();
    expect(leave).toHaveBeenCalledTimes(1);
  });

  it('destroys a response that has not begun when the lock is lost', async () => {
    const { abort, destroy, response } = own({ property: 'whole' });
    response.headersSent = false;
    abort.abort(new Error('lost'));
    await turns();
    expect(destroy).toHaveBeenCalledTimes(1);
  });
});
