import type { Choice, Deed } from './script-steps.js';

const A = ['lock:a'];
const B = ['lock:b'];
const BOTH = [...A, ...B];

/** Indices of callers: two of stores that live, and one of a dead store. */
const ONE = 0;
const OTHER = 1;
const DEAD_ONE = 6;
const OTHER_DEAD_ONE = 7;

/** Choices that chance brings about too seldom. */
export const RARE_CHOICES: readonly Choice[][] = [
  // A lock whose ttl ran out while only the dead stood in line.
  [chosen('acquire', A, ONE), chosen('wait', A, DEAD_ONE), chosen('expire', A), chosen('acquire', A, OTHER)], // prettier-ignore
  // A line so long that a waiter comes to the front of it.
  [
    chosen('acquire', A, ONE),
    ...[1, 2, 3, 4, 5].map((who) => chosen('wait', A, who)),
    chosen('release', A, ONE),
  ],
  [
    chosen('acquire', A, ONE),
    ...[1, 2, 3, 4, DEAD_ONE, OTHER_DEAD_ONE].map((who) => chosen('wait', A, who)),
    chosen('release', A, ONE),
    chosen('leave', A, 2),
  ],
  // A lock that is left free for a moment.
  [chosen('acquire', A, ONE), chosen('leave free', A, ONE), chosen('leave free', A, ONE)],
  [chosen('acquire', A, ONE), chosen('wait', A, OTHER), chosen('leave free', A, ONE), chosen('hand on', A), chosen('hand on', A)], // prettier-ignore
  // Two locks, and a counter of only one that is beyond.
  [chosen('acquire', BOTH, ONE), chosen('renew', A, ONE), chosen('raise', BOTH, ONE)],
  [chosen('acquire', BOTH, ONE), chosen('renew', B, ONE), chosen('raise', BOTH, ONE)],
];

function chosen(does: Deed, keys: readonly string[], who = ONE): Choice {
  return { does, parts: [{ keys, who }], tokens: { ahead: -1, more: 1 }, isTwice: false };
}
