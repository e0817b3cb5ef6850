import type { Lease } from './lock-store.js';
import { fieldsOf, isObject } from './fields.js';
import { UnknownAnswerError } from './unknown-answer.js';

/*
 * Checks a store's answers against the contract. A third-party store may break it, and an answer mistaken for a grant admits a
 * second holder.
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

/** For `extendMany`: the answer for each lease is checked where it is used. */
export function checkExceptions(answer: unknown): asserts answer is ReadonlyMap<Lease, unknown> {
  if (!(answer instanceof Map)) throw new UnknownAnswerError('a Map of leases', answer);
}

export function checkInspection(answer: unknown): void {
  if (answer === undefined) return;
  const { key } = fieldsOf(answer);
  if (typeof key !== 'string')
    throw new UnknownAnswerError('undefined or an object with a key', answer);
}

/** For `list`. */
export function checkPage(answer: unknown): void {
  const { locks, cursor } = fieldsOf(answer);
  const isList = Array.isArray(locks) && locks.every((each) => isText(fieldsOf(each)['key']));
  if (isList && (cursor === undefined || isText(cursor))) return;
  throw new UnknownAnswerError('an object with a list of `locks` and perhaps a `cursor`', answer);
}

const HOLDER_STATES = ['held', 'taken', 'other', 'unconfirmed', 'shared'];

/** For `askHolder` and `evict`. */
export function checkHolderAnswer(answer: unknown): void {
  const { state, taken } = fieldsOf(answer);
  if (!HOLDER_STATES.includes(state as string))
    throw new UnknownAnswerError(`an object with a state of ${HOLDER_STATES.join(', ')}`, answer);
  if (state === 'taken' && typeof fieldsOf(taken)['release'] !== 'function')
    throw new UnknownAnswerError('a taken key with the method `release`', taken);
}

/** The part of a lease that is missing, if any. */
function wrongOf(answer: Readonly<Record<string, unknown>>): string | undefined {
  const { extend, release, handOff, handOffRaising, retire, downgrade, raiseFencing } = answer;
  if (typeof extend !== 'function' || typeof release !== 'function')
    return ' with the methods `extend` and `release`';
  const optional = [handOff, handOffRaising, retire, downgrade, raiseFencing];
  if (!optional.every(isMethodOrMissing))
    return ' whose `handOff`, `handOffRaising`, `retire`, `downgrade` and `raiseFencing` are methods or missing';
  const { fencingToken, lost } = answer;
  if (fencingToken !== undefined && typeof fencingToken !== 'bigint')
    return ' whose `fencingToken` is a bigint or missing';
  if (lost !== undefined && typeof fieldsOf(lost)['addEventListener'] !== 'function')
    return ' whose `lost` is an AbortSignal or missing';
  return undefined;
}

function isText(value: unknown): boolean {
  return typeof value === 'string';
}

function isMethodOrMissing(value: unknown): boolean {
  return value === undefined || typeof value === 'function';
}
