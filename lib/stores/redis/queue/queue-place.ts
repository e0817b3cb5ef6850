import { systemClock } from '../../../core/async/clock.js';
import type { QueuedTimer } from '../../../core/async/timer-queue.js';
import type { Linked } from '../../../core/queue/linked-queue.js';
import type { NamedLock } from '../keys/named-lock.js';
import { HEARTBEAT, LONGEST_CLAIM } from '../lua/pace.js';

/** Waiters are rejected after this many consecutive failures. */
const MOST_FAILURES = 3;
/** Milliseconds for which a Cluster may have no master for a key: it takes `cluster-node-timeout`, 15 s, and an election. */
const LONGEST_FAILOVER = 30_000;

/** A lock that is the waiter's for `ttl` ms, counted from `sentAt`, before a request of this store was sent. */
export interface HandedOff {
  readonly fence: bigint;
  readonly sentAt: number;
  readonly ttl: number;
}

/** One caller's place in line. Its keys are a lock, its line and its set of sharers. */
export interface Place extends NamedLock, Linked<Place> {
  readonly claim: number;
  /** How many waiters in front make its heartbeat slower by one `BEAT`. */
  readonly row: number;
  /** When its caller asked for the lock. */
  readonly arrivedAt: number;
  /** Called without `how` for a claim. */
  readonly granted: (how?: HandedOff) => void;
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

type PlaceStart = Pick<Place, 'row' | 'arrivedAt' | 'timer' | 'granted' | 'refused'>;

/** A place that the server does not know yet. */
export function newPlace(held: NamedLock, start: PlaceStart): Place {
  return {
    ...held,
    ...start,
    before: undefined,
    behind: undefined,
    claim: Math.min(held.request.ttl, LONGEST_CLAIM),
    isAsking: false,
    askedAt: 0,
    failures: 0,
    error: undefined,
    failingSince: 0,
    hasStood: false,
    hasLeft: false,
  };
}

/** Milliseconds without an answer after which the holder of a key counts as unknown. */
const LONGEST_SILENCE = 500;

/** The server has answered a heartbeat: the waiter stands in line. */
export function noteAnswer(place: Place): void {
  place.hasStood = true;
  place.failures = 0;
  place.error = undefined;
}

export function noteFailure(place: Place, error: unknown): void {
  place.isAsking = false;
  place.error = error;
  if (place.failures++ === 0) place.failingSince = systemClock.now();
}

/** Whether the waiter stays in line after a failure. */
export function isBearable({ failures, failingSince }: Place, error: unknown): boolean {
  if (failures < MOST_FAILURES) return true;
  const isFailover = error instanceof Error && error.message.startsWith('Too many Cluster');
  return isFailover && systemClock.now() - failingSince < LONGEST_FAILOVER;
}

/** Maximum age of a new place, in milliseconds: callers that asked longer ago overtake no others. */
const LONGEST_AGE = 1_000;

/** As the server calls it. */
function entryOf({ claim, value }: Place): string {
  return `${claim} ${value}`;
}

/** Of the heartbeats of places. */
export function waitArgs(places: readonly Place[]): (string | number)[] {
  const words = places.flatMap((place, index) => [
    place.value,
    placeWord(place, places[index - 1]),
  ]);
  return [HEARTBEAT, ...words];
}

/**
 * The script's word for a place, without what it knows: that a place is behind the one that is `last` in the same call, and how
 * old one is that it has. The age and the claim are in milliseconds. Only a place that is open now can tell the script the order:
 * one that has left is unknown to it.
 */
function placeWord(place: Place, last: Place | undefined): string {
  const { claim, arrivedAt, row, before, hasStood } = place;
  const age = Math.min(systemClock.now() - arrivedAt, LONGEST_AGE);
  const isKnown = !before || hasStood || before === last;
  return `${claim} ${age.toFixed(3)} ${row}${isKnown ? '' : ` ${entryOf(before)}`}`;
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
