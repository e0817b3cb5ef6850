import { systemClock } from '../../core/clock.js';
import type { QueuedTimer } from '../../core/timer-queue.js';
import type { Held } from './held.js';

/** Milliseconds that the server takes a waiter for alive after it was last heard of. */
export const HEARTBEAT = 2_000;
/** Milliseconds between two signs of life: less than a claim lasts, so that nobody misses the end of one. */
const BEAT = HEARTBEAT / 3;
/** Milliseconds after the end of a ttl at which the first in line looks whether the key is free. */
const LOOK_AFTER = 3;
/** The ones behind look so much later each, in case that the first one is dead. */
const LOOK_APART = 10;
const LATEST_LOOK = 60;
/** A server that fails so often in a row is reported to those who wait. */
const MOST_FAILURES = 3;
/** Milliseconds for which a Cluster may have no master for a key: it takes `cluster-node-timeout`, 15 s, and an election. */
const LONGEST_FAILOVER = 30_000;

/** Where one caller stands in line. Its keys are a lock, its queue and the set of those who share it. */
export interface Place extends Held {
  readonly claim: number;
  readonly granted: () => void;
  readonly refused: (error: unknown) => void;
  /** Its next sign of life, or the end of the wait for the answer to the last one. */
  readonly timer: QueuedTimer;
  /** A sign of life is under way. */
  isAsking: boolean;
  failures: number;
  /** The last failure, until an answer. */
  error: unknown;
  failingSince: number;
  hasStood: boolean;
  hasLeft: boolean;
}

/** Whether to go on standing in line after a failure. */
export function isBearable({ failures, failingSince }: Place, error: unknown): boolean {
  if (failures < MOST_FAILURES) return true;
  const isFailover = error instanceof Error && error.message.startsWith('Too many Cluster');
  return isFailover && systemClock.now() - failingSince < LONGEST_FAILOVER;
}

/** Milliseconds for the answer to a sign of life. */
export function answerTime({ request }: Place): number {
  return request.storeTimeout ?? HEARTBEAT;
}

/** All places of a process are due together. */
export function nextBeat(): number {
  return (Math.floor(systemClock.now() / BEAT) + 1) * BEAT;
}

/** When a lock that lives for `ttl` more milliseconds can have run out. Negative: it has no ttl. */
export function lookTime(ttl: number, inFront: number): number {
  if (ttl < 0) return Infinity;
  return systemClock.now() + ttl + LOOK_AFTER + Math.min(inFront * LOOK_APART, LATEST_LOOK);
}
