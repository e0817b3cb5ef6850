// The same pauses and picks in every run: SEED is that of `--seed`, in this process and in those that it starts.
import { SEED } from './options.mjs';

let state = SEED;

/** From 0 to 1: mulberry32. */
export function random() {
  state = (state + 0x6d2b79f5) | 0;
  let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
  mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
  return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
}
