import { lockKey } from 'nest-holdfast/core';
import { KeyTemplate } from '../../../lib/core/keys/key-template';
import { seeded } from '../../support/histories/history-random';

const ODD = Array.from(":-_.~/ !*'()|,;@#é😀\u0000\u0085");
const SEPARATORS = [...ODD, '://', '-_', ' (', '.%', 'é😀', ':a', '-5'];
const AROUND = ['', '', 'order', 'order:', 'a-', '%', ':', '😀', 'x%3A'];
/** Few different characters, so that values often look like parts of the key around them. */
const LETTERS = [
  ...ODD,
  ...'%25DE3Aab12{}+\\'.split(''),
  'e',
  '\u0301',
  '%3A',
  '%2D',
  ...SEPARATORS,
];
/** Characters that no value brings into a key, at any position. */
const RESERVED = /[%:\p{Cc}]/u;
const PAIRS_OF_A_TEMPLATE = 10;

interface FuzzedKeys {
  /** Pairs of two different lists that are one key when they are joined by hand. */
  readonly confusable: number;
  /** Lists whose key by hand is that of the template. */
  readonly byHand: number;
}

/**
 * Makes pairs of lists of values, a template for each pair, and their keys: by the template, by `lockKey`, and by hand. Throws
 * for a pair that breaks a rule of keys, with the seed that repeats it.
 */
export function fuzzKeys(pairs: number, seed: number): FuzzedKeys {
  const random = seeded(seed);
  const upTo = (count: number) => Math.floor(random() * count);
  const oneOf = <T>(list: readonly T[]) => list[upTo(list.length)]!;
  const value = () => Array.from({ length: 1 + upTo(5) }, () => oneOf(LETTERS)).join('');
  const found = { confusable: 0, byHand: 0 };
  let keys = new Keys([oneOf(AROUND), oneOf(AROUND)]);
  for (let pair = 0; pair < pairs; pair++) {
    if (pair % PAIRS_OF_A_TEMPLATE === 0) {
      const between = Array.from({ length: upTo(4) }, () => oneOf(SEPARATORS));
      keys = new Keys([oneOf(AROUND), ...between, oneOf(AROUND)]);
    }
    const one = keys.texts.slice(1).map(value);
    const other = random() < 0.3 ? one.map(value) : cutElsewhere(one, keys.texts, upTo);
    const problem = problemOf(keys, one, other, found);
    const { texts } = keys;
    if (problem) throw new Error(JSON.stringify({ problem, texts, one, other, seed, pair }));
  }
  return found;
}

/** One template in its two notations. */
class Keys {
  readonly #template: KeyTemplate;
  readonly #strings: TemplateStringsArray;

  constructor(readonly texts: readonly string[]) {
    const names = texts.slice(1).map((_, index) => `<${index}>`);
    this.#template = new KeyTemplate(joined(texts, names));
    this.#strings = Object.assign([...texts], { raw: texts });
  }

  byTemplate(values: readonly string[]): string {
    return this.#template.render((root) => values[+root]);
  }

  byTag(values: readonly string[]): string {
    return lockKey(this.#strings, ...values);
  }
}

function problemOf(
  keys: Keys,
  one: readonly string[],
  other: readonly string[],
  found: { confusable: number; byHand: number },
): string | undefined {
  const { texts } = keys;
  const made = [one, other].map((values) => keys.byTemplate(values));
  for (const [index, values] of [one, other].entries()) {
    const isByHand = made[index] === joined(texts, values);
    if (isByHand) found.byHand++;
    if (made[index] !== keys.byTag(values)) return 'lockKey makes another key';
    if (isByHand !== values.every((each, at) => isPlain(each, at, texts))) return 'by hand';
  }
  const isSame = one.every((each, at) => each === other[at]);
  if ((made[0] === made[1]) !== isSame) return isSame ? 'two keys' : 'one key';
  if (!isSame && joined(texts, one) === joined(texts, other)) found.confusable++;
  return undefined;
}

/** Nothing in it has a meaning at its place in the key. */
function isPlain(value: string, at: number, texts: readonly string[]): boolean {
  const isLast = at === texts.length - 2;
  const [separator] = texts[at + 1]!;
  return !RESERVED.test(value) && (isLast || !value.includes(separator!));
}

/** The same text, cut into values at other separators. */
function cutElsewhere(
  values: readonly string[],
  texts: readonly string[],
  upTo: (count: number) => number,
): readonly string[] {
  const separators = texts.slice(1, -1);
  let rest = joined(['', ...separators, ''], values);
  const others: string[] = [];
  for (const separator of separators) {
    const places = placesOf(separator, rest);
    if (places.length === 0) return values;
    const at = places[upTo(places.length)]!;
    others.push(rest.slice(0, at));
    rest = rest.slice(at + separator.length);
  }
  return [...others, rest];
}

/** Where the text may be cut, so that something is left on both sides. */
function placesOf(separator: string, text: string): number[] {
  const places: number[] = [];
  for (let at = text.indexOf(separator, 1); at > 0; at = text.indexOf(separator, at + 1)) {
    if (at + separator.length < text.length) places.push(at);
  }
  return places;
}

function joined([first, ...others]: readonly string[], values: readonly string[]): string {
  return others.reduce((key, text, index) => key + values[index]! + text, first!);
}
