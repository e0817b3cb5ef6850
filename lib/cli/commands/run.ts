import { Command } from 'commander';
import { CommandError, usageError } from '../output/command-error.js';
import { failureOf } from '../output/failure.js';
import { Output } from '../output/output.js';
import { acquireLock } from '../run/acquire-lock.js';
import type { AcquireFlags } from '../run/acquire-lock.js';
import { hearOfEvictions } from '../run/eviction-beat.js';
import { guardTimes } from '../run/guard-times.js';
import { runHeld } from '../run/held-command.js';
import { SignalRelay } from '../run/signal-relay.js';
import { SupervisorProcess } from '../run/supervisor-process.js';
import { parseDuration, parseWait } from '../settings/duration.js';
import { parseWhole } from '../settings/numbers.js';
import { addSharedOptions, setting } from '../settings/shared-options.js';
import type { SharedOptions } from '../settings/shared-options.js';
import { withLocks } from './with-locks.js';

interface RunOptions extends SharedOptions, AcquireFlags {
  readonly conflictExitCode?: number;
  readonly killAfter?: number;
  readonly shell?: boolean;
}

const TTL = 30_000;

const EXAMPLES = `
The command gets HOLDFAST_KEY and HOLDFAST_FENCING_TOKEN. It runs as a process group of its own: signals and the input are passed
on, and what it leaves running is ended before the key is free. If the lock cannot be extended, the group gets SIGTERM, and is
killed before the key can expire.

Exit code: that of the command, 128 and the number of the signal that ended it, or
  75 the key is held by another caller   70 the lock was lost     69 the store is down
  126 the command cannot be run          127 it does not exist    64 usage

Examples:
  $ holdfast run nightly-report --no-wait --conflict-exit-code 0 -- ./report.sh --all
  $ holdfast run deploy --wait 10m --shell -- 'git pull && make deploy | tee log'
`;

export function runCommand(): Command {
  const command = new Command('run')
    .summary('run a command under a lock')
    .description('Takes a lock, runs a command, and frees the lock when the command has ended.');
  command
    .usage('<key> [options] -- <command...>')
    .argument('<key>', 'the key, without the prefix of the store')
    .argument('<command...>', 'the command and its arguments, behind --')
    .addOption(
      setting(
        '--wait <time>',
        'how long to wait for a held key, or forever (default: 10s)',
        parseWait,
      ),
    )
    .option('--no-wait', 'do not wait for a held key')
    .addOption(
      setting(
        '--ttl <time>',
        'how long the store keeps the key if this machine dies (default: 30s)',
        parseDuration,
      ),
    )
    .option(
      '--permits <count>',
      'how many holders the key may have at a time (default: 1)',
      parseWhole(1, 1_000_000),
    )
    .option('--read', 'share the key with other readers')
    .addOption(
      setting(
        '--conflict-exit-code <code>',
        'exit code when the key is held (default: 75)',
        parseWhole(0, 255),
      ),
    )
    .addOption(
      setting(
        '--kill-after <time>',
        'from SIGTERM to SIGKILL (default: 5s, at most half of the ttl)',
        parseDuration,
      ),
    )
    .option('--shell', 'the command is a line for sh');
  return addSharedOptions(command)
    .addHelpText('after', EXAMPLES)
    .action(async (key: string, words: string[]) => {
      process.exitCode = await run(key, words, command.opts<RunOptions>());
    });
}

async function run(key: string, words: readonly string[], options: RunOptions): Promise<number> {
  checkRun(words, options);
  const output = new Output(options);
  const relay = new SignalRelay(() => output.note(NOT_SUSPENDED));
  const supervisor = new SupervisorProcess();
  try {
    return await withLocks(options, async ({ locks, opened }) => {
      const times = guardTimes(options, opened);
      const lock = await acquireLock(locks, key, options, relay);
      const command = options.shell ? ['/bin/sh', '-c', words.join(' ')] : words;
      const hearNoMore = hearOfEvictions(lock, options.ttl ?? TTL, opened.store);
      try {
        return await runHeld(command, { lock, opened, output, relay, supervisor, times });
      } finally {
        hearNoMore();
        await lock.release();
      }
    });
  } catch (error) {
    const { exitCode, line } = failureOf(error, options.conflictExitCode);
    throw new CommandError(exitCode, line, { cause: error });
  } finally {
    supervisor.close();
  }
}

const NOT_SUSPENDED = 'it cannot be suspended while it has, or awaits, a lock';

function checkRun([program]: readonly string[], { read, permits }: RunOptions): void {
  if (program === '') throw usageError('the command is empty: name a program behind --');
  if (read && permits !== undefined) throw usageError('give either --read or --permits, not both');
  if (process.platform === 'win32')
    throw usageError('run needs process groups, which Windows does not have');
}
