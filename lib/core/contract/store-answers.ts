import type { Lease } from '../lock-store.js';
import { fieldsOf, isObject } from './fields.js';
import { UnknownAnswerError } from './unknown-answer.js';

/*
 * Whether a store answered as the contract says. Stores may be anybody's, and what is taken for a grant lets somebody in.
 */

/** Throws for what is neither a lease nor `undefined`. */
export function checkLease(answer: unknown): asserts answer is Lease | undefined {
  if (answer === undefined) return;
  const wrong = isObject(answer) ? wrongOf(answer) : '';
  if (wrong !== undefined) throw new UnknownAnswerError(`undefined or a lease${wrong}`, answer);
}

export function checkBoolean(answer: unknown): asserts answer is boolean {
  if (typeof answer !== 'boolean') throw new UnknownAnswerError('true or false', answer);
}

/** For `extendMany`: what it says of each lease is looked at where that is. */
export function checkExceptions(answer: unknown): asserts answer is ReadonlyMap<Lease, unknown> {
  if (!(answer instanceof Map)) throw new UnknownAnswerError('a Map of leases', answer);
}

export function checkInspection(answer: unknown): void {
  if (answer === undefined) return;
  const { key } = fieldsOf(answer);
  if (typeof key !== 'string')
    throw new UnknownAnswerError('undefined or an object with a key', answer);
}

/** What is missing of a lease, if anything. */
function wrongOf(answer: Readonly<Record<string, unknown>>): string | undefined {
  const { extend, release, passOn, downgrade, raiseFencing } = answer;
  if (typeof extend !== 'function' || typeof release !== 'function')
    return ' with the methods `extend` and `release`';
  if (![passOn, downgrade, raiseFencing].every(isMethodOrMissing))
    return ' whose `passOn`, `downgrade` and `raiseFencing` are methods or missing';
  const { fencingToken, lost } = answer;
  if (fencingToken !== undefined && typeof fencingToken !== 'bigint')
    return ' whose `fencingToken` is a bigint or missing';
  if (lost !== undefined && typeof fieldsOf(lost)['addEventListener'] !== 'function')
    return ' whose `lost` is an AbortSignal or missing';
  return undefined;
}

function isMethodOrMissing(value: unknown): boolean {
  return value === undefined || typeof value === 'function';
}
