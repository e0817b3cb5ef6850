import { show } from '../../core/options/option-values.js';
import { isGuardKey } from './guard-keys.js';

export type Argument = string | number | Buffer;

/**
 * Clients flatten lists: one in a value, straight from a body, would be further arguments, and one as a key another command.
 * Throws `TypeError` or `RangeError`.
 */
export function checkCommand(key: unknown, command: unknown, args: readonly unknown[]): void {
  if (typeof key !== 'string' || key === '') throw wrong('key', 'a string that is not empty', key);
  if (isGuardKey(key)) throw new RangeError(`the key of call is one of a guard: ${show(key)}`);
  if (typeof command !== 'string') throw wrong('command', 'a string', command);
  for (const value of args) {
    if (typeof value === 'string' || typeof value === 'number' || Buffer.isBuffer(value)) continue;
    throw wrong('arguments', 'strings, numbers or Buffers', value);
  }
}

function wrong(what: string, expected: string, got: unknown): TypeError {
  return new TypeError(`the ${what} of call must be ${expected}, got ${show(got)}`);
}
