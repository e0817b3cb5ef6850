/** Where time is read, in milliseconds. */
export interface TimeSources {
  /** The time of day, in whole milliseconds. It may be set at any time. */
  wall(): number;
  /** Never goes back, and may stand still while the machine is suspended. */
  monotonic(): number;
}

/** Milliseconds by which the wall clock may fall behind before it counts as set back: it is read to 1 ms, and slewed by less than that. */
const SET_BACK = 10;

/**
 * The most that can have passed: the monotonic clock, and whatever the wall clock has gained on it. That is the time of a
 * suspension, or a wall clock that was set forward, which nobody can tell apart. One that is set back takes nothing away.
 *
 * The gain is measured from the largest difference between the two, so that noise and a clock that is slewed to and fro add
 * up to nothing. A clock that is slewed forward is followed at its own rate, which is far below the 1 % that validity allows for.
 */
export class PassedTime {
  readonly #sources: TimeSources;
  /** The most that the wall clock was ahead of the monotonic one since it was last set back. */
  #difference: number;
  /** Milliseconds that the wall clock has gained. */
  #gained = 0;

  constructor(sources: TimeSources) {
    this.#sources = sources;
    this.#difference = this.#mostItCanBe();
  }

  /** Milliseconds. Never goes back. */
  now(): number {
    const wall = this.#sources.wall();
    const monotonic = this.#sources.monotonic(); // afterwards: a pause between the two must not look like a gain
    const gain = wall - monotonic - this.#difference;
    if (gain > 0) {
      this.#difference += gain;
      this.#gained += gain;
    } else if (gain < -SET_BACK) {
      this.#difference = Math.min(this.#difference, this.#mostItCanBe());
    }
    return monotonic + this.#gained;
  }

  /** A pause between the two readings makes it larger, and the rest of a millisecond, too. */
  #mostItCanBe(): number {
    const monotonic = this.#sources.monotonic();
    return this.#sources.wall() + 1 - monotonic;
  }
}
