import type { Moment } from '../clock.js';

/** Milliseconds by which a server's clock may differ from ours between two readings, beside what is unknown of them. */
const JUMP = 100;
/** The part of the time in between by which it may differ: clocks run at slightly different rates. */
const DRIFT = 0.01;

/** What a server's clock said, some time between question and answer. */
export interface ClockReading {
  /** Its clock minus ours, and minus our monotonic one: one of them follows us where we were suspended, or set our clock. */
  readonly offsets: readonly [number, number];
  /** By how much that may be wrong: half the time that the reading took. */
  readonly reach: number;
  readonly readAt: number;
}

/** Of a server that said `time`, in milliseconds, when it was asked at `sentAt` and answered by `now`. */
export function clockReading(time: number, sentAt: Moment, now: Moment): ClockReading {
  const readAt = (sentAt.now + now.now) / 2;
  const readAtMonotonic = (sentAt.monotonic + now.monotonic) / 2;
  return {
    offsets: [time - readAt, time - readAtMonotonic],
    reach: (now.now - sentAt.now) / 2,
    readAt,
  };
}

/** Whether the server's clock was set in between. One that still agrees with either of our clocks was not: ours was set, or stood still. */
export function hasJumped(before: ClockReading, now: ClockReading): boolean {
  const tolerated = JUMP + reachAt(now.readAt, before) + now.reach;
  return now.offsets.every((offset, of) => Math.abs(offset - before.offsets[of]!) > tolerated);
}

/** The one to compare with from now on. A slow answer says little, and must not make one forget what was known before. */
export function sharper(before: ClockReading, now: ClockReading): ClockReading {
  return reachAt(now.readAt, before) < now.reach ? before : now;
}

function reachAt(moment: number, { reach, readAt }: ClockReading): number {
  return reach + DRIFT * (moment - readAt);
}
