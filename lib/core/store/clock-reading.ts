import type { Moment } from '../async/clock.js';

/** Milliseconds by which a server's clock may differ from ours between two readings, beyond the uncertainty of the readings. */
const JUMP = 100;
/** Fraction of the time in between by which it may differ: clocks run at slightly different rates. */
const DRIFT = 0.01;

/** A server's clock, read at some time between request and answer. */
export interface ClockReading {
  /** Its clock minus ours, and minus our monotonic one. After a suspension, or a set of our clock, one of the two still fits. */
  readonly offsets: readonly [number, number];
  /** Uncertainty of the offsets: half the time that the reading took. */
  readonly reach: number;
  readonly readAt: number;
}

/** Of a server that gave `time`, in milliseconds, when it was asked at `sentAt` and answered by `now`. */
export function clockReading(time: number, sentAt: Moment, now: Moment): ClockReading {
  const readAt = (sentAt.now + now.now) / 2;
  const readAtMonotonic = (sentAt.monotonic + now.monotonic) / 2;
  return {
    offsets: [time - readAt, time - readAtMonotonic],
    reach: (now.now - sentAt.now) / 2,
    readAt,
  };
}

/**
 * Whether the server's clock was set in between. A clock that still agrees with either of ours was not: ours was set, or
 * stopped.
 */
export function hasJumped(before: ClockReading, now: ClockReading): boolean {
  const tolerated = JUMP + reachAt(now.readAt, before) + now.reach;
  return now.offsets.every((offset, of) => Math.abs(offset - before.offsets[of]!) > tolerated);
}

/** The reading to compare with from now on. A slow answer is imprecise and must not replace a precise one. */
export function sharper(before: ClockReading, now: ClockReading): ClockReading {
  return reachAt(now.readAt, before) < now.reach ? before : now;
}

function reachAt(moment: number, { reach, readAt }: ClockReading): number {
  return reach + DRIFT * (moment - readAt);
}
