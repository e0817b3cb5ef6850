import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import type { AcquireRequest } from './lock-store.js';

/** `host:pid:startTime` of this process, the time in milliseconds since 1970. For people who inspect. */
const thisHolder = `${hostname()}:${process.pid}:${Math.round(performance.timeOrigin)}`;

/** A request with a token that no other one has. */
export function requestFor(
  { keys, ttl, permits }: Pick<AcquireRequest, 'keys' | 'ttl' | 'permits'>,
  storeTimeout: number,
): AcquireRequest {
  const token = randomUUID();
  return { key: keys[0]!, keys, token, ttl, permits, holder: thisHolder, storeTimeout };
}
