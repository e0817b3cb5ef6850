import 'reflect-metadata';
import type { EventEmitter } from 'node:events';
import type { Readable } from 'node:stream';
import type { ExecutionContext } from '@nestjs/common';
import { isClosed } from '../../http/closed-response.js';
import { HandlerWork } from '../../http/handler-work.js';
import type { WatchedResponse } from '../../http/handler-work.js';
import { closedSource } from '../../http/sources.js';
import { onceClientGone } from './client-gone.js';
import type { ClientConnection } from './client-gone.js';

/** A body that is sent after the handler has returned. */
export interface Sending {
  /** Resolves when nothing works on it any more. */
  readonly ended: Promise<unknown>;
  /** Stops it: with an error when the lock was lost, without one when its receiver has left. */
  readonly stop: (error?: Error) => void;
  /** `true` where nothing tells the client that it has failed before it began. */
  readonly failsQuietly?: boolean;
}

/** Node's response, which Fastify's reply has inside. */
export interface HttpResponse extends EventEmitter, Omit<WatchedResponse, 'on' | 'once'> {
  readonly headersSent: boolean;
  destroy(): unknown;
}

/** `undefined` where the handler has none. */
export function httpResponse(context: ExecutionContext): HttpResponse | undefined {
  if (context.getType<string>() !== 'http') return undefined;
  const response = raw(context.switchToHttp().getResponse<Wrapped<HttpResponse>>());
  return typeof response?.once === 'function' ? response : undefined;
}

/**
 * Resolves once the response has been sent, or its client is gone. A response behind others on its connection is not told
 * of that: its socket is asked, too.
 */
export function responseOver(response: HttpResponse, context: ExecutionContext): Promise<void> {
  if (response.writableFinished || isClosed(response)) return Promise.resolve();
  const socket = raw(context.switchToHttp().getRequest<Wrapped<HttpRequest>>())?.socket;
  return new Promise((resolve) => {
    const events = ['finish', 'close'];
    let forgetSocket = () => {};
    const over = () => {
      events.forEach((event) => response.removeListener(event, over));
      forgetSocket();
      resolve();
    };
    events.forEach((event) => response.once(event, over));
    if (socket) forgetSocket = onceClientGone(socket, over);
  });
}

/** Half an answer does not look like a whole one. */
export function cutShort(response: HttpResponse, evenBeforeItBegins = false): void {
  const { headersSent, writableEnded } = response;
  if (!writableEnded && (headersSent || evenBeforeItBegins)) response.destroy();
}

/**
 * A body that a handler with `@Res()` sends itself. It has ended with the response, what was piped into that, and the handler: a
 * client that leaves ends the response only.
 */
export function ownResponse(response: HttpResponse, over: Promise<void>): Sending {
  const sources = new Set<Readable>();
  response.on('pipe', (source: Readable) => sources.add(source));
  const done = new Promise<void>((resolve) => HandlerWork.of(response).onceDone(resolve));
  const closedToo = over.then(() => Promise.all([done, ...[...sources].map(closedSource)]));
  return { ended: closedToo, stop: () => {}, failsQuietly: true };
}

/** Nest's `ROUTE_ARGS_METADATA`, its keys for `@Res()` and `@Next()`, and `RESPONSE_PASSTHROUGH_METADATA`: none is exported. */
const ROUTE_ARGS = '__routeArguments__';
const RESPONSE_OR_NEXT = /^[12]:/;
const PASSTHROUGH = '__responsePassthrough__';

/** Whether Nest leaves the response to the handler: `@Res()` and `@Next()` without `passthrough`. */
export function sendsItself(type: Function | undefined, property: string | symbol): boolean {
  if (!type) return false; // of handlers that Nest's own router does not call
  const parameters = (Reflect.getMetadata(ROUTE_ARGS, type, property) ?? {}) as object;
  if (!Object.keys(parameters).some((key) => RESPONSE_OR_NEXT.test(key))) return false;
  return Reflect.getMetadata(PASSTHROUGH, type, property) !== true;
}

type Wrapped<T> = Partial<T> & { readonly raw?: T };

interface HttpRequest {
  readonly socket?: ClientConnection;
}

function raw<T>(wrapped: Wrapped<T> | undefined): T | undefined {
  return wrapped?.raw ?? (wrapped as T | undefined);
}
