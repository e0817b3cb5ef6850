import { reasonOf } from '../../core/contract/safe-error.js';
import { fieldsOf } from '../../core/contract/fields.js';
import { printable } from '../../core/text/printable.js';
import { redact } from '../../core/text/redaction.js';
import { CommandError } from './command-error.js';
import { ExitCode } from './exit-codes.js';

/** How a command failed: its exit code, and the line that says so. */
export interface Failure {
  readonly exitCode: number;
  readonly line: string;
}

/** `busyCode`: that of a key that another caller holds. */
export function failureOf(error: unknown, busyCode: number = ExitCode.busy): Failure {
  const exitCode = exitCodeOf(error, busyCode);
  const advice = fieldsOf(error)['code'] === STORE_FAILED ? `. ${STORE_ADVICE}` : '';
  return { exitCode, line: oneLine(reasonOf(error) + advice) };
}

const STORE_FAILED = 'LOCK_STORE_FAILED';
const STORE_ADVICE =
  'See that the server runs and that --store names it: "holdfast doctor" says more';

/** On one line, without secrets and control characters. */
export function oneLine(text: string): string {
  return printable(
    redact(text)
      .trim()
      .replaceAll(/\s*\n\s*/g, ' '),
  );
}

/** By the code of the error: a store from the file of --config may be of another copy of this library. */
function exitCodeOf(error: unknown, busyCode: number): number {
  if (error instanceof CommandError) return error.exitCode;
  const code = String(fieldsOf(error)['code']);
  switch (code) {
    case 'LOCK_TIMEOUT':
    case 'LOCK_QUEUE_FULL':
    case 'LOCK_DRAINING':
      return busyCode;
    case STORE_FAILED:
      return ExitCode.storeDown;
    case 'LOCK_LOST':
      return ExitCode.lost;
  }
  return code.startsWith('LOCK_') ? ExitCode.usage : ExitCode.lost;
}
