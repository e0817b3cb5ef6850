import type { WatchedResponse } from '../http/handler-work.js';

/** The part of a request of Express 4 or 5 that is used here. */
export interface ExpressRequest {
  readonly params: unknown;
  readonly query: unknown;
  readonly headers: unknown;
  readonly body?: unknown;
  readonly socket?: unknown;
}

/** The part of a response of Express 4 or 5 that is used here. */
export interface ExpressResponse extends Omit<WatchedResponse, 'once'> {
  locals: Record<string, any>;
  readonly socket?: unknown;
  readonly headersSent: boolean;
  once(event: 'close' | 'socket', listener: () => void): unknown;
  removeListener(event: 'close', listener: () => void): unknown;
  setHeader(name: string, value: string): unknown;
  removeHeader(name: string): unknown;
  status(code: number): { json(body: unknown): unknown };
}
