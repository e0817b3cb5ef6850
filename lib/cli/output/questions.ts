import { createInterface } from 'node:readline/promises';
import { usageError } from './command-error.js';

/** Asks on the terminal. Throws `CommandError` for any answer but yes, and where the input is no terminal. */
export async function confirm(command: string, question: string): Promise<void> {
  if (!process.stdin.isTTY)
    throw usageError(`${command} asks for a confirmation on a terminal: give --yes`);
  const answer = await ask(`${question} [y/N] `);
  if (!/^y(es)?$/i.test(answer.trim())) throw usageError('nothing was done');
}

/** The line that a person enters on the terminal. Ctrl-C and the end of the input reject. */
export async function ask(question: string): Promise<string> {
  const lines = createInterface({ input: process.stdin, output: process.stderr });
  const stopped = new Promise<never>((_, reject) => {
    lines.once('SIGINT', () => reject(usageError('it was interrupted')));
    lines.once('close', () => reject(usageError('the input ended without an answer')));
  });
  try {
    return await Promise.race([lines.question(question), stopped]);
  } finally {
    lines.close();
  }
}
