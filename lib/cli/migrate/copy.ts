import { Command } from 'commander';
import { copyRedisLocks, settleRedisCopy } from '../../migrate/copy/copy-redis-locks.js';
import type { RedisCopyServers } from '../../migrate/copy/copy-options.js';
import { usageError } from '../output/command-error.js';
import { showDuration } from '../output/duration-text.js';
import { ExitCode } from '../output/exit-codes.js';
import { Output } from '../output/output.js';
import { confirm } from '../output/questions.js';
import { parseDuration } from '../settings/duration.js';
import { configFile, jsonLines, setting } from '../settings/shared-options.js';
import { openAdmin } from './admin-connection.js';
import type { AdminConnection } from './admin-connection.js';
import { copyFailure } from './copy-failure.js';
import { moveStep } from './move-step.js';
import { checkNamed } from './sides.js';

interface CopyOptions {
  readonly from?: unknown;
  readonly to?: unknown;
  readonly user?: string;
  readonly prefix?: string;
  readonly clientPrefix?: string;
  readonly within?: number;
  readonly settle?: boolean;
  readonly yes?: boolean;
  readonly json?: boolean;
}

/** The servers of a copy, and the connections that ask them. */
interface Copy {
  readonly from: AdminConnection;
  readonly to: AdminConnection;
  readonly servers: RedisCopyServers;
  readonly output: Output;
}

const EXAMPLES = `
From one Redis to another one, by connections of administrators. The applications connect as --user, which is to be switched off at
--to. Both servers are closed to it for the time of the copy: held locks survive. The command behind -- lets the applications reach
the new server; without one, you are asked to. Ctrl-C undoes the copy, as long as the new server is not open.

Exit code: 0 when the locks have moved, 75 when the copy was undone and the old server serves, 70 when it was cut off: then repeat
it with --settle. 64 when the servers are not ready, 69 when one does not answer.

Examples:
  $ holdfast migrate copy --from redis://admin:pass@old:6379 --to redis://admin:pass@new:6379 --user locks -- ./move-dns.sh
  $ holdfast migrate copy --user locks --settle --yes
`;

export function copyCommand(): Command {
  const command = new Command('copy')
    .summary('copy held locks from one Redis to another')
    .description('Moves the locks of one Redis to another one, under applications as they are.');
  command
    .usage('[options] -- <command...>')
    .argument('[command...]', 'what lets the applications reach the new server, behind --')
    .addOption(setting('--from <url>', 'the Redis that is left, as an administrator'))
    .addOption(setting('--to <url>', 'the Redis that is moved to, as an administrator'))
    .addOption(setting('--user <name>', 'the ACL user of the applications, on both servers'))
    .addOption(setting('--prefix <text>', 'keyPrefix of the locks (default: lock:)'))
    .addOption(setting('--client-prefix <text>', "keyPrefix of the applications' clients"))
    .addOption(
      setting(
        '--within <time>',
        'undo a copy that takes longer; at most two thirds of the smallest ttl (default: 20s)',
        parseDuration,
      ),
    )
    .option('--settle', 'undo or finish a copy that was cut off, and whose process has ended')
    .option('--yes', 'do not ask for a confirmation')
    .addOption(configFile())
    .addOption(jsonLines());
  return command.addHelpText('after', EXAMPLES).action(async (words: string[]) => {
    process.exitCode = await runCopy(words, command.opts<CopyOptions>());
  });
}

async function runCopy(words: readonly string[], options: CopyOptions): Promise<number> {
  checkNamed(options);
  const { user, prefix: keyPrefix, clientPrefix } = options;
  if (!user) throw usageError('name the ACL user of the applications: --user locks');
  if (options.settle && words.length > 0)
    throw usageError('give either --settle or a command, not both');
  const move = options.settle ? undefined : moveStep(words);
  const from = await openAdmin('from', options.from);
  const to = await openAdmin('to', options.to);
  const servers = { from: from.client, to: to.client, user, keyPrefix, clientPrefix };
  const copy = { from, to, servers, output: new Output(options) };
  try {
    await (move ? moveLocks(copy, options, move) : settle(copy, options));
    return ExitCode.done;
  } catch (error) {
    throw copyFailure(error);
  } finally {
    for (const { client } of [from, to]) client.disconnect();
  }
}

async function moveLocks(
  { from, to, servers, output }: Copy,
  { within, yes, user }: CopyOptions,
  move: () => Promise<void>,
): Promise<void> {
  if (!yes) await confirm('migrate copy', `Close ${from.host} to ${user}, and open ${to.host} with its locks?`); // prettier-ignore
  const stop = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
    process.once(signal, () => stop.abort(new Error(`interrupted by ${signal}`)));
  const { locks, closedFor } = await copyRedisLocks({
    ...servers,
    within,
    move,
    signal: stop.signal,
    onStep: (step) => output.note(`step ${step}`),
  });
  const milliseconds = Math.round(closedFor);
  output.data({ outcome: 'moved', locks, closedFor: milliseconds }, () => `${locks} locks were moved; both servers were closed for ${showDuration(milliseconds)}`); // prettier-ignore
}

async function settle({ from, to, servers, output }: Copy, { yes }: CopyOptions): Promise<void> {
  if (!yes) await confirm('migrate copy', `Has the process of the copy from ${from.host} to ${to.host} ended?`); // prettier-ignore
  const outcome = await settleRedisCopy(servers);
  output.data({ outcome }, () => SETTLED[outcome]);
}

const SETTLED = {
  moved: 'the locks have moved: the new server serves, and the old one is closed',
  undone: 'the copy is undone: the old server serves',
} as const;
