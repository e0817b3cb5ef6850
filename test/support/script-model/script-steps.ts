import * as fc from 'fast-check';
import { DEAD, type TokenRange, UNCERTAIN } from './lock-model.js';
import { FOREIGNER, KEYS, type Leased, ODD_KEY, type ScriptModel } from './script-model.js';

export const STORES = ['aa', 'bb'] as const;
const VALUES = [...STORES, UNCERTAIN, DEAD].flatMap((store) =>
  [1, 2].map((n) => `${store}.${n}:host:1:2`),
);

/** Steps with one key, with several, and with the keys that callers hold. */
const WITH_ONE = ['leave', 'leave free', 'hand on', 'renew', 'renew with tokens', 'lapse', 'inspect', 'expire', 'delete', 'lose counter', 'foreigner'] as const; // prettier-ignore
const WITH_SOME = ['acquire', 'acquire with a floor', 'release', 'release and acquire'] as const;

export type Deed =
  (typeof WITH_ONE)[number] | (typeof WITH_SOME)[number] | 'wait' | 'extend' | 'raise';

/** The actor: the holder, the first in line, or one of all. */
type Who = 'holder' | 'first' | number;

/** A step that is chosen before the holders are known. */
export interface Choice {
  readonly does: Deed;
  readonly parts: readonly { readonly keys: readonly string[]; readonly who: Who }[];
  /** Where a counter is raised: how far ahead of the last token it may be, and to how much more. */
  readonly tokens: { readonly ahead: number; readonly more: number };
  /** Does it once more, as a client whose reply was lost. */
  readonly isTwice: boolean;
}

export interface Step {
  readonly does: Deed;
  readonly parts: readonly Leased[];
  readonly tokens: TokenRange;
}

const PLAIN = { noNullPrototype: true } as const;

const anyone: fc.Arbitrary<Who> = fc.oneof(
  { weight: 2, arbitrary: fc.constant('holder' as const) },
  { weight: 1, arbitrary: fc.constant('first' as const) },
  { weight: 3, arbitrary: fc.nat(VALUES.length - 1) },
);
/** Mostly one whom it concerns. */
const insider: fc.Arbitrary<Who> = fc.oneof(
  { weight: 3, arbitrary: fc.constant('holder' as const) },
  { weight: 2, arbitrary: fc.constant('first' as const) },
  { weight: 1, arbitrary: anyone },
);
const oneKey: fc.Arbitrary<string[]> = fc.constantFrom(...KEYS.map((key) => [key]));
const someKeys: fc.Arbitrary<string[]> = fc.oneof(oneKey, fc.constant<string[]>([...KEYS]));
const oddKeys: fc.Arbitrary<string[]> = fc.oneof(
  { weight: 4, arbitrary: someKeys },
  fc.constant<string[]>([ODD_KEY]),
);

/** The counter is beyond a token that is behind the last one, and not beyond the others. */
const tokens = fc.record(
  { ahead: fc.constantFrom(-1, 0, 7), more: fc.constantFrom(0, 1, 64) },
  PLAIN,
);

interface Doers {
  readonly who?: fc.Arbitrary<Who>;
  readonly most?: number;
}

function weighted(
  weight: number,
  deeds: readonly Deed[],
  keys: fc.Arbitrary<string[]>,
  { who = anyone, most = 1 }: Doers = {},
) {
  const part = fc.record({ keys, who }, PLAIN);
  const parts = fc.array(part, { minLength: 1, maxLength: most });
  const does = fc.constantFrom(...deeds);
  return { weight, arbitrary: fc.record({ does, parts, tokens, isTwice: fc.boolean() }, PLAIN) };
}

const choice: fc.Arbitrary<Choice> = fc.oneof(
  weighted(8, ['wait'], oneKey, { most: 3 }),
  weighted(7, WITH_SOME, someKeys),
  weighted(5, WITH_SOME, oddKeys, { who: insider, most: 4 }),
  weighted(10, WITH_ONE, oneKey, { who: insider }),
  weighted(2, ['raise'], someKeys, { who: insider }),
  weighted(2, ['extend'], oddKeys, { most: 3 }),
);

export const choices: fc.Arbitrary<Choice[]> = fc.array(choice, {
  minLength: 1,
  maxLength: 100,
  size: 'max',
});

const NOTHING: Step = { does: 'extend', parts: [], tokens: { from: 0, to: 0 } };

/** The step that the choice makes in the present state. */
export function stepOf({ does, parts, tokens: { ahead, more } }: Choice, model: ScriptModel): Step {
  const leased = parts.map(({ keys, who }) => ({ keys, value: valueOf(who, keys[0]!, model) }));
  const from = Math.max(0, lastOf(parts[0]!.keys, model) + ahead);
  const range = { from, to: from + more };
  const isSome =
    (WITH_SOME as readonly Deed[]).includes(does) && (does !== 'release' || parts.length > 1);
  if (isSome && leased.some((each) => isInLine(model, each))) return NOTHING;
  if (does === 'extend') return { does, parts: leased.filter(isOfAnother), tokens: range };
  return { does, parts: leased, tokens: range };
}

/** Steps after which another of the same kind must find everything as it was. A dead store sends nothing twice. */
export function isIdempotent({ does, parts }: Step): boolean {
  const deeds: readonly Deed[] = ['acquire', 'wait', 'leave', 'extend', 'release', 'raise'];
  return deeds.includes(does) && !parts.some(({ value }) => value.startsWith(DEAD));
}

/** The last token of any of the keys: one less is not enough for all of them. */
function lastOf(keys: readonly string[], model: ScriptModel): number {
  return Math.max(...keys.map((key) => model.locks.get(key)?.last ?? 0));
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

/** A caller in line asks for nothing else. */
function isInLine(model: ScriptModel, { keys, value }: Leased): boolean {
  return keys.some((key) => model.locks.get(key)?.line.some((waiter) => waiter.value === value));
}
