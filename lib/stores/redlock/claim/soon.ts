import { settled } from '../../../core/async/clock.js';
import type { Clock } from '../../../core/async/clock.js';

/** Milliseconds: a live node is behind the others by less. */
const LONGEST = 100;

/** Resolves when `answer` has come or failed, or takes too long. The caller handles its result. Never rejects. */
export function soon(clock: Clock, answer: Promise<unknown>): Promise<void> {
  return settled(clock, answer, LONGEST);
}
