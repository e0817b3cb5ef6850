import { systemClock } from '../../core/clock.js';
import type { QueuedTimer } from '../../core/timer-queue.js';
import type { Held } from './held.js';
import { HEARTBEAT } from './queue/pace.js';

/** A server that fails so often in a row is reported to those who wait. */
const MOST_FAILURES = 3;
/** Milliseconds for which a Cluster may have no master for a key: it takes `cluster-node-timeout`, 15 s, and an election. */
const LONGEST_FAILOVER = 30_000;

/** Where one caller stands in line. Its keys are a lock, its line and the set of those who share it. */
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
