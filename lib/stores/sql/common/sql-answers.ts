import { fieldsOf, isObject } from '../../../core/contract/fields.js';
import { UnknownAnswerError } from '../../../core/contract/unknown-answer.js';

/*
 * Whether a driver answered with what its statement returns: an unchecked row would be a grant. A number of the database may be a
 * number, a bigint or text here: that depends on the driver.
 */

const INTEGER = /^-?\d+$/;
const DECIMAL = /^-?\d+(\.\d+)?(e[+-]?\d+)?$/;

export function asRows(answer: unknown): readonly object[] {
  if (Array.isArray(answer) && answer.every(isObject)) return answer;
  throw new UnknownAnswerError('a list of rows', answer);
}

/** The only row, if there is one. */
export function asRow(answer: unknown): object | undefined {
  const rows = asRows(answer);
  if (rows.length <= 1) return rows[0];
  throw new UnknownAnswerError('one row at most', answer);
}

/** The columns of a row in their order, whether the driver returns objects or arrays. */
export function columnsOf(row: unknown, count: number): readonly unknown[] {
  const columns = Object.values(fieldsOf(row));
  if (columns.length === count) return columns;
  throw new UnknownAnswerError(`a row of ${count} columns`, row);
}

/** For a statement that returns a row of one column if it did something: whether it did. */
export function isDone(answer: unknown): boolean {
  const row = asRow(answer);
  return row !== undefined && columnsOf(row, 1).length === 1;
}

export function asBigInt(value: unknown): bigint {
  if (typeof value === 'bigint') return value;
  if (Number.isSafeInteger(value) || (typeof value === 'string' && INTEGER.test(value)))
    return BigInt(value as number | string);
  throw new UnknownAnswerError('a whole number', value);
}

/** Of at most 53 bits. */
export function asWhole(value: unknown): number {
  return Number(asBigInt(value));
}

/** May have decimals. */
export function asNumber(value: unknown): number {
  if (typeof value === 'number' && Number.isFinite(value)) return value;
  if (typeof value === 'string' && DECIMAL.test(value)) return Number(value);
  throw new UnknownAnswerError('a number', value);
}

/** For a statement that returns the text of a boolean. */
export function isTrueText(value: unknown): boolean {
  if (value === 'true' || value === 'false') return value === 'true';
  throw new UnknownAnswerError('true or false, as text', value);
}

export function asText(value: unknown): string {
  if (typeof value === 'string') return value;
  throw new UnknownAnswerError('text', value);
}
