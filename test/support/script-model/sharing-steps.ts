import * as fc from 'fast-check';
import { DEAD } from './lock-model.js';
import type { SharingModel } from './sharing-model.js';

const KINDS = ['', '*inf', '*2', '*2', '*1'];
const VALUES = ['aa', 'bb', DEAD].flatMap((store) =>
  KINDS.map((kind, index) => `${store}${kind}.${store}${index}:host:1:2`),
);

const DEEDS = ['take', 'wait', 'leave', 'release', 'extend', 'renew', 'downgrade', 'leaveFree', 'handOn', 'lapse', 'expire'] as const; // prettier-ignore

/** Sharers never do them. */
const OF_WRITERS: readonly Deed[] = ['renew', 'downgrade', 'leaveFree'];

export type Deed = (typeof DEEDS)[number];

/** A step that is chosen before the holders are known. */
export interface Choice {
  readonly does: Deed;
  /** One of the holders, of the waiters, or of all. */
  readonly of: 'holders' | 'line' | 'all';
  readonly who: number;
  /** Does it once more, as a client whose reply was lost. */
  readonly isTwice: boolean;
}

export interface Step {
  readonly does: Deed;
  readonly value: string;
}

function weighted(weight: number, does: readonly Deed[], of: readonly Choice['of'][]) {
  const choice = { does: fc.constantFrom(...does), of: fc.constantFrom(...of) };
  const how = { who: fc.nat(VALUES.length - 1), isTwice: fc.boolean() };
  return { weight, arbitrary: fc.record({ ...choice, ...how }, { noNullPrototype: true }) };
}

const choice: fc.Arbitrary<Choice> = fc.oneof(
  weighted(6, ['take', 'wait'], ['all']),
  weighted(
    3,
    ['release', 'extend', 'renew', 'downgrade', 'leaveFree'],
    ['holders', 'holders', 'all'],
  ),
  weighted(1, ['expire'], ['holders']),
  weighted(2, ['wait', 'leave', 'lapse', 'handOn'], ['line', 'holders']),
);

export const choices: fc.Arbitrary<Choice[]> = fc.array(choice, { minLength: 1, maxLength: 80, size: 'max' }); // prettier-ignore

/**
 * Choices that chance brings about too seldom, or not in each run: they have every outcome. Values 0, 5 and 10 are writers, 1, 6 and 11
 * readers; 2 and 4 want a permit of two, and of one; 10 and 11 are dead.
 */
export const RARE_CHOICES: readonly Choice[][] = [
  [all('downgrade', 0), all('extend', 0), all('renew', 0)],
  [all('take', 0), all('wait', 0), all('take', 1)],
  [all('take', 1), all('take', 0), all('wait', 6)],
  [all('take', 2), all('take', 4), all('wait', 4)],
  [all('take', 0), all('wait', 5), first('release')],
  [all('take', 0), all('wait', 1), first('release'), first('extend')],
  [all('take', 1), all('wait', 5), first('release'), first('renew'), all('release', 1)],
  [all('take', 1), all('wait', 0), all('wait', 5), ...[1, 2].flatMap(() => [first('release'), first('renew')]), all('release', 1)], // prettier-ignore
  [all('take', 0), all('wait', 1), all('wait', 6), first('downgrade'), first('release')],
  [all('take', 0), all('wait', 5), first('expire'), all('take', 10)],
  [all('take', 0), first('leaveFree'), all('handOn', 0)],
  [all('take', 0), all('wait', 5), first('leaveFree'), all('handOn', 5)],
  [all('take', 0), ...[10, 11, 5, 1, 6].map((who) => all('wait', who)), first('release')],
  [all('take', 0), ...[5, 1, 6, 10, 11].map((who) => all('wait', who)), first('release')],
];

function all(does: Deed, who: number): Choice {
  return { does, of: 'all', who, isTwice: true };
}

function first(does: Deed): Choice {
  return { does, of: 'holders', who: 0, isTwice: true };
}

/** The step that the choice makes in the present state. `undefined` where it makes no sense. */
export function stepOf({ does, of, who }: Choice, model: SharingModel): Step | undefined {
  const inLine = model.line.map(({ value }) => value);
  const among = { holders: model.holders, line: inLine, all: VALUES }[of];
  const value = among[who % Math.max(1, among.length)];
  if (value === undefined) return undefined;
  if (does === 'take' && inLine.includes(value)) return undefined; // a caller in line asks for nothing else
  if ((does === 'take' || does === 'wait') && value.includes('*') && model.isUndecided) return undefined; // prettier-ignore
  if (does === 'lapse' && !inLine.includes(value)) return undefined;
  if (does === 'expire' && !model.holders.includes(value)) return undefined;
  if (OF_WRITERS.includes(does) && value.includes('*')) return undefined;
  return { does, value };
}

/** A dead store sends nothing twice. */
export function isRepeatable({ does, value }: Step): boolean {
  return does !== 'lapse' && does !== 'expire' && !value.startsWith(DEAD);
}
