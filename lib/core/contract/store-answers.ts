import type { Lease } from './lock-store.js';
import { fieldsOf } from './fields.js';
import { UnknownAnswerError } from './unknown-answer.js';

/*
 * Checks a store's answers against the contract. A third-party store may break it, and an answer mistaken for a grant admits a
 * second holder.
 */

export function checkBoolean(answer: unknown): asserts answer is boolean {
  if (typeof answer !== 'boolean') throw new UnknownAnswerError('true or false', answer);
}

/** For `extendMany`: the answer for each lease is checked where it is used. */
export function checkExceptions(answer: unknown): asserts answer is ReadonlyMap<Lease, unknown> {
  if (!(answer instanceof Map)) throw new UnknownAnswerError('a Map of leases', answer);
}

export function checkInspection(answer: unknown): void {
  if (answer === undefined) return;
  const wrong = wrongFieldOf(answer);
  if (wrong !== undefined)
    throw new UnknownAnswerError(`undefined or an object with a key${wrong}`, answer);
}

/** For `list`. */
export function checkPage(answer: unknown): void {
  const { locks, cursor } = fieldsOf(answer);
  const isList = Array.isArray(locks) && (cursor === undefined || isText(cursor));
  const wrong = isList ? locks.map(wrongFieldOf).find((each) => each !== undefined) : '';
  if (wrong === undefined) return;
  const expected = `an object with a list of \`locks\`${wrong} and perhaps a \`cursor\``;
  throw new UnknownAnswerError(expected, answer);
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

/** What is wrong with an answer that is neither a lease nor `undefined`: the part of a lease that is missing. */
export function wrongOfLease(answer: unknown): string | undefined {
  if (answer === undefined) return undefined;
  if (typeof answer !== 'object' || answer === null) return '';
  const fields = answer as Readonly<Record<string, unknown>>;
  const { extend, release, handOff, handOffRaising, retire, downgrade, raiseFencing } = fields;
  if (typeof extend !== 'function' || typeof release !== 'function')
    return ' with the methods `extend` and `release`';
  const optional = [handOff, handOffRaising, retire, downgrade, raiseFencing];
  for (const each of optional)
    if (each !== undefined && typeof each !== 'function')
      return ' whose `handOff`, `handOffRaising`, `retire`, `downgrade` and `raiseFencing` are methods or missing';
  const { fencingToken, lost } = fields;
  if (fencingToken !== undefined && typeof fencingToken !== 'bigint')
    return ' whose `fencingToken` is a bigint or missing';
  if (lost !== undefined && typeof fieldsOf(lost)['addEventListener'] !== 'function')
    return ' whose `lost` is an AbortSignal or missing';
  return undefined;
}

/** The fields of a `LockInspection` beside its key, each of which may be missing. */
const FIELDS: Readonly<
  Record<string, readonly [is: string, isRight: (value: unknown) => boolean]>
> = {
  holder: ['a string', isText],
  permits: ['a number', isNumber],
  holders: ['a list of strings', areTexts],
  remaining: ['a number', isNumber],
  fencingToken: ['a bigint', (value) => typeof value === 'bigint'],
  heldFor: ['a number', isNumber],
  waiters: ['a list of strings', areTexts],
  waiterCount: ['a number', isNumber],
};

/** Of what should be a `LockInspection`: the field that is wrong, if any. */
function wrongFieldOf(answer: unknown): string | undefined {
  const fields = fieldsOf(answer);
  if (!isText(fields['key'])) return '';
  for (const [name, [is, isRight]] of Object.entries(FIELDS)) {
    const value = fields[name];
    if (value !== undefined && !isRight(value)) return ` whose \`${name}\` is ${is} or missing`;
  }
  return undefined;
}

function isText(value: unknown): value is string {
  return typeof value === 'string';
}

function isNumber(value: unknown): boolean {
  return typeof value === 'number' && !Number.isNaN(value);
}

function areTexts(value: unknown): boolean {
  return Array.isArray(value) && value.every(isText);
}
