import { systemClock } from '../../../core/async/clock.js';
import type { QueuedTimer } from '../../../core/async/timer-queue.js';
import type { NamedLock } from '../keys/named-lock.js';
import { HEARTBEAT } from '../lua/pace.js';

/** Waiters are rejected after this many consecutive failures. */
const MOST_FAILURES = 3;
/** Milliseconds for which a Cluster may have no master for a key: it takes `cluster-node-timeout`, 15 s, and an election. */
const LONGEST_FAILOVER = 30_000;

/** One caller's place in line. Its keys are a lock, its line and its set of sharers. */
export interface Place extends NamedLock {
  readonly claim: number;
  readonly granted: () => void;
  readonly refused: (error: unknown) => void;
  /** Its next heartbeat, or the deadline for the answer to the last one. */
  readonly timer: QueuedTimer;
  /** A heartbeat is in progress. */
  isAsking: boolean;
  askedAt: number;
  failures: number;
  /** The last failure, until an answer. */
  error: unknown;
  failingSince: number;
  hasStood: boolean;
  hasLeft: boolean;
}

/** Milliseconds without an answer after which the holder of a key counts as unknown. */
const LONGEST_SILENCE = 500;

/** Whether the waiter stays in line after a failure. */
export function isBearable({ failures, failingSince }: Place, error: unknown): boolean {
  if (failures < MOST_FAILURES) return true;
  const isFailover = error instanceof Error && error.message.startsWith('Too many Cluster');
  return isFailover && systemClock.now() - failingSince < LONGEST_FAILOVER;
}

/** Milliseconds for the answer to a heartbeat. */
export function answerTime({ request }: Place): number {
  return request.storeTimeout ?? HEARTBEAT;
}

/** Set when the server has left the last heartbeat unanswered for `LONGEST_SILENCE`. */
export function whySilent({ isAsking, askedAt }: Place): Error | undefined {
  const silence = systemClock.now() - askedAt;
  return isAsking && silence >= LONGEST_SILENCE ? noAnswer(silence) : undefined;
}

export function noAnswer(within: number): Error {
  return new Error(`no answer within ${Math.round(within)} ms`);
}
