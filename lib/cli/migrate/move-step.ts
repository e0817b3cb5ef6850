import { spawn } from 'node:child_process';
import { constants } from 'node:os';
import { usageError } from '../output/command-error.js';
import { ask } from '../output/questions.js';

const QUESTION =
  'The new server is open. Let the applications reach it, by their DNS name or address, then press Enter: ';

/** The step that leads the applications to the new server: a command, or a person. Throws `CommandError` where there is neither. */
export function moveStep(command: readonly string[]): () => Promise<void> {
  if (command.length > 0) return () => runMove(command);
  if (process.stdin.isTTY) return async () => void (await ask(QUESTION));
  throw usageError('write the command that lets the applications reach the new server behind --, or run this on a terminal'); // prettier-ignore
}

/** Its output goes to stderr: stdout is for data. Rejects where it does not end with 0. */
function runMove([file, ...args]: readonly string[]): Promise<void> {
  const child = spawn(file!, args, { stdio: ['inherit', 2, 'inherit'] });
  return new Promise((resolve, reject) => {
    child.once('error', (error) =>
      reject(new Error(`the command cannot be run: ${error.message}`)),
    );
    child.once('close', (code, signal) => {
      if (code === 0) return resolve();
      const status = code ?? 128 + (signal ? constants.signals[signal] : 0);
      reject(new Error(`the command has ended with ${status}`));
    });
  });
}
