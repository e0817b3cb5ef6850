import { systemClock } from '../../../core/async/clock.js';

/** Milliseconds after its last sign of life for which the server takes a waiter near the head of the line for alive. */
export const HEARTBEAT = 2_000;
/**
 * Milliseconds between two heartbeats near the head of the line: less than a claim lasts, so that no waiter misses the end of
 * one.
 */
export const BEAT = HEARTBEAT / 3;
/**
 * Found with `bench/waiting.mjs`: the line costs the server the same however long it is. This many waiters send a heartbeat
 * every `BEAT`. Each further row of this many waits for one more `BEAT`.
 */
export const ROW = 8;
/** As `ROW`, where every caller of a process has a place: the places of a process share their calls. */
export const STRICT_ROW = 64;
/** Maximum heartbeat interval of a long line, in `BEAT`s: 30 s. */
export const SLOWEST = 45;
/** The server calls up a waiter that becomes one of this many at the head of the line, */
export const CALLED_UP = 4;
/** unless its next heartbeat is sure to come within this many milliseconds. */
export const SOON = 3 * BEAT;

/** Milliseconds after the end of a ttl at which the head of the line looks whether the key is free. */
const LOOK_AFTER = 3;
/** Each waiter behind looks this many milliseconds later, in case that the head of the line is dead. */
const LOOK_APART = 10;
const LATEST_LOOK = 60;
/**
 * Slow heartbeats are spread over this fraction of their interval, so that a whole line that came at once does not send at once.
 */
const SPREAD = 0.2;

/**
 * The time of the next heartbeat, with `inFront` waiters in front, in rows of `row`. All places of a process in the same row are
 * due together.
 */
export function nextBeat(inFront = 0, row = ROW): number {
  const most = Math.min(1 + Math.floor(inFront / row), SLOWEST);
  const beats = Math.max(1, Math.round(most * (1 - SPREAD * Math.random())));
  return (Math.floor(systemClock.now() / BEAT) + beats) * BEAT;
}

/**
 * The time by which a lock that lives for `ttl` more milliseconds can have ended. Negative: it has no ttl. Only waiters near the
 * head of the line look.
 */
export function lookTime(ttl: number, inFront: number): number {
  if (ttl < 0 || inFront >= ROW) return Infinity;
  return systemClock.now() + ttl + LOOK_AFTER + Math.min(inFront * LOOK_APART, LATEST_LOOK);
}

/** Milliseconds that a key is kept for a waiter until it answers. */
export const LONGEST_CLAIM = 1_000;
