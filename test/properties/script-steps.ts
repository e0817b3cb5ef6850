import * as fc from 'fast-check';
import { DEAD, UNCERTAIN } from './lock-model.js';
import { FOREIGNER, KEYS, type Leased, ODD_KEY, type ScriptModel } from './script-model.js';

export const STORES = ['aa', 'bb'] as const;
const VALUES = [...STORES, UNCERTAIN, DEAD].flatMap((store) =>
  [1, 2].map((n) => `${store}.${n}:host:1:2`),
);

/** What is done with one key, with some, and with what some hold. */
const WITH_ONE = ['leave', 'renew', 'lapse', 'inspect', 'expire', 'delete', 'lose counter', 'foreigner'] as const; // prettier-ignore
const WITH_SOME = ['acquire', 'acquire with a floor', 'release'] as const;

export type Deed = (typeof WITH_ONE)[number] | (typeof WITH_SOME)[number] | 'wait' | 'extend';

/** Who does it: the holder, the first in line, or one of all. */
type Who = 'holder' | 'first' | number;

/** A step that is chosen before it is known who holds what. */
export interface Choice {
  readonly does: Deed;
  readonly parts: readonly { readonly keys: readonly string[]; readonly who: Who }[];
  /** Does it once more, as a client whose reply was lost. */
  readonly isTwice: boolean;
}

export interface Step {
  readonly does: Deed;
  readonly parts: readonly Leased[];
}

const PLAIN = { noNullPrototype: true } as const;

const anyone: fc.Arbitrary<Who> = fc.oneof(
  { weight: 2, arbitrary: fc.constant('holder' as const) },
  { weight: 1, arbitrary: fc.constant('first' as const) },
  { weight: 3, arbitrary: fc.nat(VALUES.length - 1) },
);
const oneKey: fc.Arbitrary<string[]> = fc.constantFrom(...KEYS.map((key) => [key]));
const someKeys: fc.Arbitrary<string[]> = fc.oneof(oneKey, fc.constant<string[]>([...KEYS]));
const oddKeys: fc.Arbitrary<string[]> = fc.oneof(
  { weight: 4, arbitrary: someKeys },
  fc.constant<string[]>([ODD_KEY]),
);

function weighted(weight: number, deeds: readonly Deed[], keys: fc.Arbitrary<string[]>, most = 1) {
  const parts = fc.array(fc.record({ keys, who: anyone }, PLAIN), {
    minLength: 1,
    maxLength: most,
  });
  const does = fc.constantFrom(...deeds);
  return { weight, arbitrary: fc.record({ does, parts, isTwice: fc.boolean() }, PLAIN) };
}

const choice: fc.Arbitrary<Choice> = fc.oneof(
  weighted(8, ['wait'], oneKey, 3),
  weighted(9, WITH_SOME, someKeys),
  weighted(8, WITH_ONE, oneKey),
  weighted(2, ['extend'], oddKeys, 3),
);

export const choices: fc.Arbitrary<Choice[]> = fc.array(choice, {
  minLength: 1,
  maxLength: 100,
  size: 'max',
});

const NOTHING: Step = { does: 'extend', parts: [] };

/** What the choice comes to, as things stand. */
export function stepOf({ does, parts }: Choice, model: ScriptModel): Step {
  const leased = parts.map(({ keys, who }) => ({ keys, value: valueOf(who, keys[0]!, model) }));
  if (does.startsWith('acquire') && isInLine(model, leased[0]!)) return NOTHING;
  if (does === 'extend') return { does, parts: leased.filter(isOfAnother) };
  return { does, parts: leased };
}

/** Steps after which another of the same kind must find everything as it was. A dead store sends nothing twice. */
export function isIdempotent({ does, parts }: Step): boolean {
  const deeds: readonly Deed[] = ['acquire', 'wait', 'leave', 'extend', 'release'];
  return deeds.includes(does) && !parts.some(({ value }) => value.startsWith(DEAD));
}

function valueOf(who: Who, key: string, model: ScriptModel): string {
  if (typeof who === 'number') return VALUES[who]!;
  const lock = model.locks.get(key);
  const value = who === 'holder' ? lock?.holder?.value : lock?.line[0]?.value;
  return value === undefined || value === FOREIGNER ? VALUES[0]! : value;
}

/** Locks that stand together under one value are one lease. */
function isOfAnother({ value }: Leased, index: number, all: readonly Leased[]): boolean {
  return value !== all[index - 1]?.value;
}

/** Who stands in line asks for nothing else. */
function isInLine(model: ScriptModel, { keys, value }: Leased): boolean {
  return keys.some((key) => model.of(key).line.some((waiter) => waiter.value === value));
}
