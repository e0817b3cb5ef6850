import { ExitCode } from './exit-codes.js';

/** Ends the command line with one line on stderr, which says what to do. */
export class CommandError extends Error {
  constructor(
    readonly exitCode: number,
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
    this.name = 'CommandError';
  }
}

export function usageError(message: string): CommandError {
  return new CommandError(ExitCode.usage, message);
}
