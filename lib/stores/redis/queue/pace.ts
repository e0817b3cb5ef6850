import { systemClock } from '../../../core/clock.js';

/** Milliseconds that the server takes one of the first in line for alive after it was last heard of. */
export const HEARTBEAT = 2_000;
/** Milliseconds between two signs of life of the first in line: less than a claim lasts, so that nobody misses the end of one. */
export const BEAT = HEARTBEAT / 3;
/** So many waiters beat every `BEAT`. Each further row of them waits for one more `BEAT`. */
export const ROW = 8;
/** How many `BEAT`s the last of a long line wait at most: 15 s. */
export const SLOWEST = 22;
/** Whoever comes to be one of the first so many is called up by the server, */
export const CALLED_UP = 4;
/** unless it is sure to give a sign of life within so many milliseconds. */
export const SOON = 3 * BEAT;

/** Milliseconds after the end of a ttl at which the first in line looks whether the key is free. */
const LOOK_AFTER = 3;
/** The ones behind look so much later each, in case that the first one is dead. */
const LOOK_APART = 10;
const LATEST_LOOK = 60;
/** Slow beats are spread over this share of their time, so that a whole line that came at once does not beat at once. */
const SPREAD = 0.2;

/**
 * When one with so many waiters in front is to give its next sign of life. All places of a process that are in the same row are
 * due together.
 */
export function nextBeat(inFront = 0): number {
  const most = Math.min(1 + Math.floor(inFront / ROW), SLOWEST);
  const beats = Math.max(1, Math.round(most * (1 - SPREAD * Math.random())));
  return (Math.floor(systemClock.now() / BEAT) + beats) * BEAT;
}

/** When a lock that lives for `ttl` more milliseconds can have run out. Negative: it has no ttl. Only the first in line look. */
export function lookTime(ttl: number, inFront: number): number {
  if (ttl < 0 || inFront >= ROW) return Infinity;
  return systemClock.now() + ttl + LOOK_AFTER + Math.min(inFront * LOOK_APART, LATEST_LOOK);
}
