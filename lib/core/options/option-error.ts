import { fieldsOf } from '../contract/fields.js';

/** `code` of every error about an option. Stable. */
const OPTION_INVALID = 'LOCK_OPTION_INVALID';

/** Misuse: no `LockError`, for no correct program meets it. */
export function optionError(
  message: string,
  kind: typeof TypeError | typeof RangeError = TypeError,
): TypeError | RangeError {
  return Object.assign(new kind(message), { code: OPTION_INVALID });
}

export function isOptionError(error: unknown): boolean {
  return error instanceof TypeError && fieldsOf(error)['code'] === OPTION_INVALID;
}
