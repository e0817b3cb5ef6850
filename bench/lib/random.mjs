// The same order, pauses and picks in every run: SEED is that of `--seed`, in this process and in those that it starts.
import { SEED } from './options.mjs';

/** From 0 to 1. */
export const random = generator(SEED);

/** Always the same order of lists of one length. */
export function shuffled(list) {
  const next = generator(SEED);
  const left = [...list];
  return list.map(() => left.splice(Math.floor(next() * left.length), 1)[0]);
}

/** mulberry32 */
function generator(seed) {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
