/**
 * Milliseconds by which the wall clock may fall behind before it counts as set back: it is read to 1 ms, and slewed by less than
 * that.
 */
const SET_BACK = 10;

/**
 * An upper bound of the time passed: the monotonic clock, plus the wall clock's gain on it. The gain is a suspension, or a wall
 * clock that was set forward; the two look the same. A clock that is set back subtracts nothing.
 *
 * The gain is measured from the largest difference between the two, so that noise and a clock that is slewed to and fro add up
 * to nothing. A clock that is slewed forward is followed at its own rate, far below the 1 % that validity allows for.
 */
export class PassedTime {
  /** The largest lead of the wall clock over the monotonic one since it was last set back. */
  #difference = mostItCanBe();
  /** Milliseconds that the wall clock has gained. */
  #gained = 0;

  /** Milliseconds. Never goes back. */
  now(): number {
    const wall = Date.now();
    const monotonic = performance.now(); // afterwards: a pause between the two must not look like a gain
    const gain = wall - monotonic - this.#difference;
    if (gain > 0) {
      this.#difference += gain;
      this.#gained += gain;
    } else if (gain < -SET_BACK) {
      this.#difference = Math.min(this.#difference, mostItCanBe());
    }
    return monotonic + this.#gained;
  }
}

/** Rounded up: a pause between the two readings, and the rest of a millisecond, make it larger. */
function mostItCanBe(): number {
  const monotonic = performance.now();
  return Date.now() + 1 - monotonic;
}
