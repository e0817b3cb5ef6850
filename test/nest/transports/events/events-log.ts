import { inspect } from 'node:util';
import { type LoggerService, Logger } from '@nestjs/common';
import { until } from '../../../support/until.js';
import type { Trouble } from '../support/troubles.js';

/** How the log calls them. */
export const ERROR_NAMES: Record<Trouble['name'], string> = {
  busy: 'LockTimeoutError',
  down: 'LockStoreError',
  lost: 'LockLostError',
};

/** Keeps what Nest logs. Give it to `app.useLogger`. */
export class NestLog implements LoggerService {
  /** Errors, as text: their messages, causes and stacks, and the name of the logger. */
  readonly errors: string[] = [];

  error(...words: unknown[]): void {
    this.errors.push(words.map((each) => inspect(each)).join(' '));
  }

  log(): void {}

  warn(): void {}

  /** Resolves with the first error that contains all of the words. */
  untilError(...words: string[]): Promise<string> {
    const what = `an error with ${words.join(', ')} in the log`;
    const hasAll = (line: string) => words.every((each) => line.includes(each));
    return until(() => this.errors.find(hasAll), { what });
  }

  /** Nest's logger is one for all applications of a process. */
  [Symbol.dispose](): void {
    Logger.overrideLogger(false);
  }
}
