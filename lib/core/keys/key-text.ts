import { isDate } from 'node:util/types';
import { LockKeyError } from '../contract/lock-errors.js';
import { LONGEST_KEY_BYTES } from './lock-keys.js';
import { show } from '../options/option-values.js';
import type { KeyFilters } from './key-filters.js';

/** `%` would be read as an escape, `:` as the end of a part; a control has no place in a log. */
const ALWAYS_RESERVED = String.raw`%:\p{Cc}`;

/**
 * The text around the values of a key. `order:<id>/<line>` has `['order:', '/', '']`.
 *
 * The key contains each value unchanged, except for its reserved characters. These become `%` and the bytes of their UTF-8 form:
 * `%`, `:`, controls, and the first character of the text behind the value, if another value follows that text. So a key made by
 * hand is nearly always the same.
 *
 * Two lists of values never give one key. An escaped value reads back in one way only, for every `%` in it begins an escape. It
 * does not contain the character that follows it: that one is reserved, and neither `%` nor a hexadecimal digit, so that no
 * escape brings it in. Hence the first such character behind the text before a value ends the value, from left to right; the
 * last value is the rest. And a value never brings a `:` in: the parts between the colons of a key are those of its text.
 */
export class KeyText {
  readonly #texts: readonly string[];
  readonly #reserved: readonly RegExp[];

  /** One text more than values. Throws what `refuse` makes of a problem. */
  constructor(texts: readonly string[], refuse: (problem: string) => TypeError) {
    if (texts.length === 1 && texts[0] === '') throw refuse('is empty');
    if (!texts.every((each) => each.isWellFormed())) {
      throw refuse('contains half of a surrogate pair, which has no UTF-8 form');
    }
    this.#texts = texts;
    this.#reserved = texts.slice(1).map((behind, index) => {
      const isLast = index === texts.length - 2;
      return reserved(isLast ? '' : separatorIn(behind, refuse));
    });
  }

  /** The key. As many values as the text has gaps. */
  fill(values: readonly string[]): string {
    let key = this.#texts[0]!;
    for (let index = 0; index < values.length; index++) {
      key += values[index]!.replace(this.#reserved[index]!, percentEncoded);
      key += this.#texts[index + 1]!;
    }
    return key;
  }
}

/** Without a separator that values cannot contain, `1` + `23` and `12` + `3` would be one key. */
function separatorIn(text: string, refuse: (problem: string) => TypeError): string {
  if (text !== '' && !/^[A-Za-z0-9%]/.test(text)) return String.fromCodePoint(text.codePointAt(0)!);
  throw refuse(
    'needs a separator between two placeholders that starts with neither a letter, a digit nor "%", such as ":"',
  );
}

function reserved(separator: string): RegExp {
  const own = separator === '' ? '' : String.raw`\u{${separator.codePointAt(0)!.toString(16)}}`;
  return new RegExp(`[${ALWAYS_RESERVED}${own}]`, 'gu');
}

function percentEncoded(character: string): string {
  const encoded = encodeURIComponent(character);
  if (encoded !== character) return encoded;
  return `%${character.charCodeAt(0).toString(16).toUpperCase()}`; // one of - _ . ! ~ * ' ( )
}

/** Where a value of a key comes from, for messages. */
export interface KeyValueSource {
  /** The whole key, with its placeholders. */
  readonly template: string;
  /** The value's place in the template: `<id>`. */
  readonly placeholder: string;
}

/** The text of an identifying value. Throws `LockKeyError`. */
export function keyValue(value: unknown, filters: KeyFilters, source: KeyValueSource): string {
  let text = identifierText(value);
  if (text === undefined) throw keyValueError(source, `got ${show(value)}`);
  // Before any filter: reading a megabyte of digits as a number takes half a second.
  if (text.length > LONGEST_KEY_BYTES) throw keyValueError(source, tooLong(text));
  for (const filter of filters) {
    const filtered = filter.apply(text);
    if (filtered === undefined) {
      const problem = `:${filter.name} expects ${filter.expects}, got ${show(value)}`;
      throw keyValueError(source, problem);
    }
    text = filtered;
  }
  if (text === '') throw keyValueError(source, `got ${show(value)}`);
  if (!text.isWellFormed()) {
    throw keyValueError(source, 'got a string with half of a surrogate pair');
  }
  return text;
}

export function keyValueError(
  { template, placeholder }: KeyValueSource,
  problem: string,
  options?: ErrorOptions,
): LockKeyError {
  return new LockKeyError(
    `Lock key "${template}": ${placeholder} must be a non-empty string, a finite number, ` +
      `a bigint, a boolean or a valid Date; ${problem}`,
    template,
    options,
  );
}

/** `undefined` for a value whose text is not unique to it. */
function identifierText(value: unknown): string | undefined {
  switch (typeof value) {
    case 'string':
      return value;
    case 'number':
      return Number.isFinite(value) ? String(value) : undefined;
    case 'bigint':
    case 'boolean':
      return String(value);
    default:
      return isDate(value) ? isoText(value) : undefined;
  }
}

function isoText(date: Date): string | undefined {
  const isValid = !Number.isNaN(Date.prototype.getTime.call(date));
  return isValid ? Date.prototype.toISOString.call(date) : undefined;
}

function tooLong(text: string): string {
  return `got ${text.length} characters, and a key has at most ${LONGEST_KEY_BYTES} bytes`;
}
