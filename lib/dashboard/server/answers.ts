import type { ServerResponse } from 'node:http';
import type { ApiFailure } from '../api.js';

/** Nothing inline, nothing from elsewhere, in no frame. */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'self'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

/** They replace those of the application, such as helmet's. */
const HEADERS = {
  'content-security-policy': POLICY,
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cross-origin-resource-policy': 'same-origin',
  'x-frame-options': 'DENY',
} as const;

/** The page is read by no other origin, also where the application allows that for the rest. */
const CROSS_ORIGIN = ['access-control-allow-origin', 'access-control-allow-credentials'] as const;

/** A request that is refused, with its answer. */
export class Refusal extends Error {
  readonly status: number;
  readonly code: string;
  /** The methods that are allowed, of a 405. */
  readonly allow: string | undefined;

  constructor(status: number, code: string, message: string, allow?: string) {
    super(message);
    this.status = status;
    this.code = code;
    this.allow = allow;
  }
}

/** Writes the head. `cache` is the header `cache-control`. */
export function sendHead(
  response: ServerResponse,
  status: number,
  type: string,
  cache = 'no-store, no-transform',
): void {
  for (const name of CROSS_ORIGIN) response.removeHeader(name);
  for (const [name, value] of Object.entries(HEADERS)) response.setHeader(name, value);
  response.setHeader('content-type', type);
  response.setHeader('cache-control', cache);
  response.statusCode = status;
}

export function send(
  response: ServerResponse,
  status: number,
  type: string,
  body: string | Buffer,
  cache?: string,
): void {
  sendHead(response, status, type, cache);
  response.setHeader('content-length', Buffer.byteLength(body));
  response.end(response.req?.method === 'HEAD' ? undefined : body);
}

/** `body` is JSON. */
export function sendJson(response: ServerResponse, status: number, body: string): void {
  send(response, status, 'application/json; charset=utf-8', body);
}

export function sendRefusal(response: ServerResponse, refusal: Refusal): void {
  const { status, code, message, allow } = refusal;
  if (allow !== undefined) response.setHeader('allow', allow);
  sendJson(response, status, JSON.stringify({ code, message } satisfies ApiFailure));
}
