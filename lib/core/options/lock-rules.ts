import { aLockName } from './lock-name.js';
import { aBoolean, aWhole, anAbortSignal, oneOf } from './option-rules.js';
import type { OptionRule } from './option-rules.js';

/** Below this, two milliseconds of drift are a large part of the ttl. */
const SHORTEST_TTL = 10;

/** One rule for each of `LockOptions`. */
export const LOCK_RULES = {
  ttl: aWhole('ms', { from: SHORTEST_TTL }),
  waitTimeout: aWhole('ms', { from: 0, orInfinity: true }),
  maxWaiting: aWhole('callers', { from: 0, orInfinity: true }),
  retryDelay: aWhole('ms', { from: 0 }),
  retryJitter: aWhole('ms', { from: 0 }),
  retryCount: aWhole('attempts', { from: 0, orInfinity: true }),
  autoExtend: aBoolean,
  maxHold: aWhole('ms', { from: SHORTEST_TTL, orInfinity: true }),
  overdueAfter: aWhole('ms', { from: 1, orInfinity: true }),
  minHold: aWhole('ms', { from: 0 }),
  storeTimeout: aWhole('ms', { from: 1 }),
  reentrant: aBoolean,
  permits: aWhole('permits', { from: 1 }),
  signal: anAbortSignal,
  mode: oneOf('read', 'write'),
  name: aLockName,
} as const satisfies Readonly<Record<string, OptionRule>>;
