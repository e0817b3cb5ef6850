import { isGeneratorObject } from 'node:util/types';
import { isObject } from '../contract/fields.js';
import { optionError } from '../options/option-error.js';

const GENERATOR =
  'the work under a lock returned a generator, which would run without the lock: iterate over it inside the work';
const OBSERVABLE =
  'the work under a lock returned an Observable, which would run without the lock: return firstValueFrom or lastValueFrom of it';

/** Throws `TypeError` for a result that has work in it which has not begun, and would run when the lock is gone. */
export function checkBegun(result: unknown): void {
  if (!isObject(result)) return;
  if (isGeneratorObject(result)) throw optionError(GENERATOR);
  if (isObservable(result)) throw optionError(OBSERVABLE);
}

/** As rxjs says it, which core does not import. */
function isObservable(result: Readonly<Record<string, unknown>>): boolean {
  try {
    return typeof result['lift'] === 'function' && typeof result['subscribe'] === 'function';
  } catch {
    return false; // a getter, or a proxy, that throws
  }
}
