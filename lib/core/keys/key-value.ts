import { isDate } from 'node:util/types';
import { LockKeyError } from '../contract/lock-errors.js';
import { LONGEST_KEY_BYTES } from './lock-keys.js';
import { show } from '../options/option-values.js';
import type { KeyFilters } from './key-filters.js';

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
