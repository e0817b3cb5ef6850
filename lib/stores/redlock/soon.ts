import { settled } from '../../core/clock.js';
import type { Clock } from '../../core/clock.js';

/** Milliseconds: a node that lives is behind the others by less. */
const LONGEST = 100;

/** Resolves when `answer` has come or failed, which others see to, or takes too long. Never rejects. */
export function soon(clock: Clock, answer: Promise<unknown>): Promise<void> {
  return settled(clock, answer, LONGEST);
}
