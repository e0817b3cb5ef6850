import { explore } from '../explore';
import type { Exploration } from '../explore';
import { RULES } from './migration-rules';
import type { Rules } from './migration-rules';
import { Migration } from './migration.model';
import type { Bounds } from './migration.model';

const TIMEOUT = 300_000;
/** Above all tokens that a search reaches without it. */
const BASE = 100;

type Case = readonly [what: string, bounds: Bounds, change: Partial<Rules>];

const COUNTERS = { numbers: 'counters' } as const;
const TO_REVISIONS = { numbers: 'target revisions', base: BASE } as const;
const FROM_REVISIONS = { numbers: 'source revisions', base: BASE } as const;

const SAFE: readonly Case[] = [
  ['old beside dual', { modes: ['old', 'dual'], acquisitions: [2, 2] }, COUNTERS],
  ['old beside dual, and a target that was used before', { modes: ['old', 'dual'], acquisitions: [2, 2], targetCounter: 3 }, COUNTERS],
  ['dual beside the target alone', { modes: ['dual', 'to'], acquisitions: [2, 2] }, COUNTERS],
  ['two in dual beside the target alone', { modes: ['dual', 'dual', 'to'], acquisitions: [1, 1, 1] }, COUNTERS],
  ['all three, with the barrier', { modes: ['old', 'dual', 'to'], acquisitions: [1, 1, 1] }, COUNTERS],
  ['revisions: old beside dual', { modes: ['old', 'dual'], acquisitions: [2, 2] }, TO_REVISIONS],
  ['revisions: dual beside handover', { modes: ['dual', 'handover'], acquisitions: [2, 2] }, TO_REVISIONS],
  ['revisions: handover beside the target alone', { modes: ['handover', 'to'], acquisitions: [2, 2] }, TO_REVISIONS],
  ['from revisions: old beside dual', { modes: ['old', 'dual'], acquisitions: [2, 2], targetCounter: 3 }, FROM_REVISIONS],
  ['from revisions: dual beside handover', { modes: ['dual', 'handover'], acquisitions: [2, 2] }, FROM_REVISIONS],
  ['from revisions: handover beside the target alone', { modes: ['handover', 'to'], acquisitions: [1, 2], targetCounter: BASE }, FROM_REVISIONS],
]; // prettier-ignore

const UNSAFE: readonly (readonly [...Case, breaks: RegExp])[] = [
  ['old beside the target alone, without the barrier', { modes: ['old', 'to'], acquisitions: [1, 1] }, { hasBarrier: false }, /two holders/],
  ['no raise of the source, and a target that was used before', { modes: ['old', 'dual'], acquisitions: [2, 2], targetCounter: 3 }, { raisesSource: false }, /token \d+ after/],
  ['revisions: dual beside the target alone, without a handover', { modes: ['dual', 'to'], acquisitions: [2, 2] }, TO_REVISIONS, /token \d+ after/],
  ['revisions: dual that does not follow the handover', { modes: ['dual', 'handover'], acquisitions: [2, 2] }, { ...TO_REVISIONS, followsHandover: false }, /token \d+ after/],
  ['revisions: handover beside old', { modes: ['old', 'handover'], acquisitions: [2, 2] }, TO_REVISIONS, /token \d+ after/],
  ['revisions: old beside dual again, after a handover', { modes: ['old', 'dual'], acquisitions: [2, 2], sourceCounter: BASE + 3, targetCounter: 3 }, TO_REVISIONS, /token \d+ after/],
  ['from revisions: handover beside old', { modes: ['old', 'handover'], acquisitions: [2, 1] }, FROM_REVISIONS, /token \d+ after/],
]; // prettier-ignore

describe('a migration from one store to another', () => {
  it.each(SAFE)('keeps one holder and growing tokens: %s', (_, bounds, change) => {
    const { states, counterexample } = run(bounds, change);
    expect(counterexample?.join('\n')).toBeUndefined();
    expect(states).toBeGreaterThan(500);
  }, TIMEOUT); // prettier-ignore

  it.each(UNSAFE)('breaks: %s', (_, bounds, change, breaks) => {
    const { counterexample = [] } = run(bounds, change);
    expect(counterexample.at(-1)).toMatch(breaks);
  }, TIMEOUT); // prettier-ignore
});

function run(bounds: Bounds, change: Partial<Rules>): Exploration {
  return explore(new Migration(bounds, { ...RULES, ...change }));
}
