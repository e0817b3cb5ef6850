import { optionError } from '../options/option-error.js';
import { KeyText, keyValue } from './key-text.js';

/** Types allowed in a key. Anything else, `undefined` and `''` included, is refused. */
export type LockKeyValue = string | number | bigint | boolean | Date;

/** By the strings of a tagged template: the same object at each evaluation. */
const texts = new WeakMap<TemplateStringsArray, KeyText>();

/**
 * Makes a key by hand, with the checks and escapes of a template: `` lockKey`order:${id}` `` is the key of
 * `@DistributedLock('order:<id>')`, whatever the id. No two lists of values give the same key.
 *
 * Throws `LockKeyError` for a value that identifies nothing, and `TypeError` where two values have no separator between them.
 *
 * ```ts
 * await locks.withLock(lockKey`order:${tenant}:${id}`, () => pay(id));
 * ```
 */
export function lockKey(strings: TemplateStringsArray, ...values: readonly LockKeyValue[]): string {
  const text = texts.get(strings) ?? textOf(strings);
  return text.fill(values.map((value, index) => keyValue(value, [], new Source(strings, index))));
}

/** Builds its name only for a message. */
class Source {
  readonly #strings: readonly string[];
  readonly #index: number;

  constructor(strings: readonly string[], index: number) {
    this.#strings = strings;
    this.#index = index;
  }

  get template(): string {
    return sourceOf(this.#strings);
  }

  get placeholder(): string {
    return placeholder(this.#index);
  }
}

function textOf(strings: TemplateStringsArray): KeyText {
  if (!Array.isArray(strings) || !Array.isArray(strings.raw)) {
    throw optionError('lockKey is a tag of template literals: lockKey`order:${id}`');
  }
  const refuse = (problem: string) => optionError(`Lock key "${sourceOf(strings.raw)}" ${problem}`);
  if (strings.includes(undefined as never)) throw refuse('contains an escape that is none');
  const [found] = strings.map((each) => /<[^<>]+>/.exec(each)?.[0]).filter(Boolean);
  if (found !== undefined) throw refuse(`contains ${found}: lockKey takes its values as \${…}`);
  const text = new KeyText(strings, refuse);
  texts.set(strings, text);
  return text;
}

/** The values by number, for their names are unknown. */
function sourceOf([first = '', ...others]: readonly string[]): string {
  return others.reduce((source, each, index) => source + placeholder(index) + each, first);
}

function placeholder(index: number): string {
  return `\${${index + 1}}`;
}
