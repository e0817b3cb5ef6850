import { randomBytes } from 'node:crypto';
import { hostname } from 'node:os';
import type { AcquireRequest } from '../contract/lock-store.js';

/** State that a store call of several steps checks between them. */
export interface Asked {
  /** The call has failed: no caller waits for its answer. */
  readonly isGone: boolean;
}

/** The state that an attempt leaves to later ones. */
export interface PastAttempt {
  readonly request: AcquireRequest;
  readonly sentAt: number;
  readonly refusedBy: string | undefined;
}

/** `host:pid:startTime` of this process, the time in milliseconds since 1970. For inspection. */
export const thisHolder = `${hostname()}:${process.pid}:${Math.round(performance.timeOrigin)}`;

/** Unique to this process, made with the first token: a heap snapshot from which several processes start has none yet. */
let ownPrefix = '';
let tokens = 0;

/**
 * A request with a token that is unique among all processes. Counted: to draw one takes a cold processor 10 µs
 * (`bench/paced.mjs`).
 */
export function requestFor(
  { keys, ttl, permits }: Pick<AcquireRequest, 'keys' | 'ttl' | 'permits'>,
  storeTimeout: number,
): AcquireRequest {
  if (ownPrefix === '') ownPrefix = randomBytes(16).toString('hex');
  const token = `${ownPrefix}-${(++tokens).toString(36)}`;
  return { key: keys[0]!, keys, token, ttl, permits, holder: thisHolder, storeTimeout };
}
