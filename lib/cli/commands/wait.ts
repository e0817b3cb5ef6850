import { Command } from 'commander';
import { systemClock } from '../../core/async/clock.js';
import { sleep } from '../../core/async/sleep.js';
import type { LockService } from '../../core/lock.service.js';
import { printable } from '../../core/text/printable.js';
import { ExitCode } from '../output/exit-codes.js';
import { parseWait } from '../settings/duration.js';
import { addSharedOptions, setting } from '../settings/shared-options.js';
import type { SharedOptions } from '../settings/shared-options.js';
import { withLocks } from './with-locks.js';

interface WaitOptions extends SharedOptions {
  readonly wait?: number;
}

/** Milliseconds between two looks. */
const LOOK_EVERY = 250;

const EXAMPLES = `
Exit code: 0 when the key is free, 1 when it was still held at the end of --wait. Another caller may take the key right
afterwards: "holdfast run" holds it.

Examples:
  $ holdfast wait deploy && ./report.sh
  $ holdfast wait deploy --wait 10m || echo still deploying
`;

export function waitCommand(): Command {
  const command = new Command('wait')
    .summary('wait until a key is free')
    .description(
      'Waits until a key is free. Takes nothing, and has no place in the queue of the key.',
    );
  command
    .argument('<key>', 'the key, without the prefix of the store')
    .addOption(setting('--wait <time>', 'how long to wait (default: forever)', parseWait));
  return addSharedOptions(command)
    .addHelpText('after', EXAMPLES)
    .action(async (key: string) => {
      const options = command.opts<WaitOptions>();
      process.exitCode = await withLocks(options, async ({ locks, output }) => {
        const isFree = await becomesFree(locks, key, options.wait ?? Infinity);
        output.data(
          { key, held: !isFree },
          () => `${printable(key)} is ${isFree ? 'free' : 'still held'}`,
        );
        return isFree ? ExitCode.done : ExitCode.no;
      });
    });
}

async function becomesFree(locks: LockService, key: string, within: number): Promise<boolean> {
  const end = systemClock.now() + within;
  for (;;) {
    if ((await locks.inspect(key)) === undefined) return true;
    const left = end - systemClock.now();
    if (left <= 0) return false;
    await sleep(systemClock, Math.min(left, LOOK_EVERY));
  }
}
