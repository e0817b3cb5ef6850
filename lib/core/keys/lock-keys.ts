import { isPromise } from 'node:util/types';
import { LockKeyError } from '../contract/lock-errors.js';
import { show } from '../options/option-values.js';

/** In UTF-8. */
export const LONGEST_KEY_BYTES = 512;
/** Of one lock. All of them go to the store in one call, which blocks other callers meanwhile. */
export const MOST_KEYS = 1_000;

/** A user's key: one, or several that are taken all or none. */
export type LockKeys = string | readonly string[];

/**
 * Without duplicates, in one order for every caller, so that two crossing requests never wait for each other.
 * Throws `LockKeyError`.
 */
export function canonicalKeys(keys: LockKeys): readonly string[] {
  if (typeof keys === 'string') return [checkKey(keys)];
  if (!Array.isArray(keys)) throw keyError(keys, 'must be a string or a list of strings');
  if (keys.length === 0) throw keyError(keys, 'must not be an empty list');
  if (keys.length > MOST_KEYS) throw tooManyKeys(keys.length);
  return [...new Set(Array.from<unknown, string>(keys, checkKey))].toSorted();
}

/** The names of several keys in messages. */
export function keyNames(keys: readonly string[]): string {
  return keys.length === 1 ? keys[0]! : keys.join(', ');
}

/** The key. Throws `LockKeyError`. */
export function checkKey(key: unknown): string {
  if (typeof key !== 'string') throw keyError(key, 'must be a string');
  if (key === '') throw keyError(key, 'must not be empty');
  if (key.length * 3 > LONGEST_KEY_BYTES && Buffer.byteLength(key) > LONGEST_KEY_BYTES) {
    throw keyError(key, `must be at most ${LONGEST_KEY_BYTES} bytes, is ${Buffer.byteLength(key)}`);
  }
  if (!key.isWellFormed()) {
    throw keyError(key, 'must not contain half of a surrogate pair: it has no UTF-8 form');
  }
  return key;
}

/** Gives the number, not the keys. */
function tooManyKeys(count: number): LockKeyError {
  const got = `a list of ${count}`;
  return new LockKeyError(`A lock takes at most ${MOST_KEYS} keys, got ${got}`, got);
}

function keyError(key: unknown, problem: string): LockKeyError {
  const got = isPromise(key) ? 'a promise' : show(key);
  if (isPromise(key)) key.catch(() => undefined); // its rejection, which no caller awaits, would end the process
  return new LockKeyError(`A lock key ${problem}, got ${got}`, got);
}
