import { fieldsOf } from '../../core/contract/fields.js';
import { reasonOf } from '../../core/contract/safe-error.js';
import { CopyError } from '../../migrate/copy/copy-error.js';
import { CommandError, usageError } from '../output/command-error.js';
import { ExitCode } from '../output/exit-codes.js';
import { isOfServer } from './admin-connection.js';

/** The message of a copy that failed, and its exit code. */
export function copyFailure(error: unknown): unknown {
  if (error instanceof CopyError) {
    const cause = error.cause === undefined ? '' : `. Its cause: ${reasonOf(error.cause)}`;
    return new CommandError(EXIT_CODES[error.code], error.message + cause, { cause: error });
  }
  const isOption = String(fieldsOf(error)['code']).startsWith('LOCK_');
  if (isOption || error instanceof CommandError || !(error instanceof Error)) return error;
  if (isOfServer(error))
    return usageError(`a server refused the administrator: ${reasonOf(error)}`);
  return new CommandError(ExitCode.storeDown, `a server does not answer: ${reasonOf(error)}`, { cause: error }); // prettier-ignore
}

const EXIT_CODES = {
  LOCK_COPY_REFUSED: ExitCode.usage,
  LOCK_COPY_UNDONE: ExitCode.busy,
  LOCK_COPY_CUT_OFF: ExitCode.lost,
} as const;
