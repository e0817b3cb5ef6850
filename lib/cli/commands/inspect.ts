import { Command } from 'commander';
import { printable } from '../../core/text/printable.js';
import { ExitCode } from '../output/exit-codes.js';
import { lockFacts } from '../output/lock-lines.js';
import { addSharedOptions } from '../settings/shared-options.js';
import type { SharedOptions } from '../settings/shared-options.js';
import { withLocks } from './with-locks.js';

const EXAMPLES = `
Exit code: 0 when the key is held, 1 when it is free.

Examples:
  $ holdfast inspect order:42
  $ holdfast inspect order:42 --json | jq -r .fencingToken
`;

export function inspectCommand(): Command {
  const command = new Command('inspect')
    .summary('who holds a key')
    .description('Shows who holds a key, for how long, and who waits for it. Takes nothing.');
  command.argument('<key>', 'the key, without the prefix of the store');
  return addSharedOptions(command)
    .addHelpText('after', EXAMPLES)
    .action(async (key: string) => {
      process.exitCode = await withLocks(
        command.opts<SharedOptions>(),
        async ({ locks, output }) => {
          const lock = await locks.inspect(key);
          if (lock) output.data({ ...lock, held: true }, () => lockFacts(lock, output));
          else output.data({ key, held: false }, () => `${printable(key)} is free`);
          return lock ? ExitCode.done : ExitCode.no;
        },
      );
    });
}
