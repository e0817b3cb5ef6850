/** Tokens below it (September 2001) were not taken from a clock. */
const EARLIEST = 1_000_000_000_000_000n;

/**
 * Milliseconds since a fencing token was minted, for tokens that are at least the time in microseconds. `now` is read from the
 * same clock, in milliseconds. `undefined`: the token is not a time, or a counter that is ahead of the clock made it.
 */
export function ageOfToken(token: bigint | undefined, now: number): number | undefined {
  if (token === undefined || token < EARLIEST) return undefined;
  const age = now - Number(token) / 1_000;
  return age < -1 ? undefined : Math.max(0, Math.floor(age)); // a block of tokens is reserved some microseconds ahead
}
