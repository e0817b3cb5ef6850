import { randomBytes } from 'node:crypto';
import { hostname } from 'node:os';
import type { AcquireRequest } from '../contract/lock-store.js';

/** `host:pid:startTime` of this process, the time in milliseconds since 1970. For inspection. */
export const thisHolder = `${hostname()}:${process.pid}:${Math.round(performance.timeOrigin)}`;

/** Unique to this process, made with the first token: a heap snapshot from which several processes start has none yet. */
let ownPrefix = '';
let tokens = 0;

/** A text unique to this call among all processes. Counted: to draw one takes a cold processor 10 µs (`bench/paced.mjs`). */
function newToken(): string {
  if (ownPrefix === '') ownPrefix = randomBytes(16).toString('hex');
  return `${ownPrefix}-${(++tokens).toString(36)}`;
}

/** A request with a unique token. */
export function requestFor(
  { keys, ttl, permits }: Pick<AcquireRequest, 'keys' | 'ttl' | 'permits'>,
  storeTimeout: number,
): AcquireRequest {
  const token = newToken();
  return { key: keys[0]!, keys, token, ttl, permits, holder: thisHolder, storeTimeout };
}
