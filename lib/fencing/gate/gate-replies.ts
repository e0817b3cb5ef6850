import { UnknownAnswerError } from '../../core/contract/unknown-answer.js';
import { LockStoreError } from '../../core/contract/lock-errors.js';

const DIGITS = /^\d+$/;

/** An answer of the gate: the reply to the command that it has run, if there was one, or the larger token that was there. */
export type Entry = { readonly result: unknown } | { readonly newest: bigint };

/** Reads the reply of a gate of `key`. Throws `LockStoreError` for one that is none. */
export function entryFrom(key: string, reply: unknown, hasCommand: boolean): Entry {
  const list: readonly unknown[] = Array.isArray(reply) ? reply : [];
  const [entered, result] = list;
  if (isNumber(entered, 1) && list.length === (hasCommand ? 2 : 1)) return { result };
  if (isNumber(entered, 0) && list.length === 2 && DIGITS.test(String(result)))
    return { newest: BigInt(String(result)) };
  throw unknownReply(key, 'a list that says whether the token may enter', reply);
}

/** Whether there was something to forget. */
export function forgottenFrom(key: string, reply: unknown): boolean {
  if (isNumber(reply, 1) || isNumber(reply, 0)) return isNumber(reply, 1);
  throw unknownReply(key, '1 or 0', reply);
}

/** Some clients make strings of numbers. */
function isNumber(reply: unknown, number: number): boolean {
  return reply === number || reply === String(number);
}

function unknownReply(key: string, expected: string, reply: unknown): LockStoreError {
  const cause = new UnknownAnswerError(expected, reply);
  return new LockStoreError(key, 'redis', cause.message, { cause });
}
