import { Command } from 'commander';
import { systemClock } from '../../core/async/clock.js';
import { sleep } from '../../core/async/sleep.js';
import type { LockInspection } from '../../core/contract/lock-inspection.js';
import type { LockService } from '../../core/lock.service.js';
import { ExitCode } from '../output/exit-codes.js';
import { lockTable } from '../output/lock-lines.js';
import { isOutputLost } from '../output/lost-output.js';
import type { Output } from '../output/output.js';
import { parseDuration } from '../settings/duration.js';
import { parseWhole } from '../settings/numbers.js';
import { addSharedOptions } from '../settings/shared-options.js';
import type { SharedOptions } from '../settings/shared-options.js';
import { withLocks } from './with-locks.js';

interface LsOptions extends SharedOptions {
  readonly waiters?: boolean;
  readonly olderThan?: number;
  readonly holder?: string;
  readonly limit?: number;
  readonly watch?: boolean;
  readonly count?: boolean;
}

const LIMIT = 1_000;
const LARGEST_PAGE = 1_000;
/** Milliseconds between two looks of `--watch`. */
const LOOK_EVERY = 2_000;
/** Cursor to the top left, then clear to the end of the screen: what is drawn again does not flicker. */
const REDRAW = '\u001b[H\u001b[J';

const EXAMPLES = `
Examples:
  $ holdfast ls 'order:*' --older-than 5m
  $ holdfast ls --holder web-3 --json | jq -r .key
`;

export function lsCommand(): Command {
  const command = new Command('ls')
    .summary('list the held keys')
    .description('Lists the held keys of all processes. Takes nothing.');
  command
    .argument('[pattern]', 'keys to list: * is any text, ? any character', undefined)
    .option('--waiters', 'also list the processes that wait for each key')
    .option('--older-than <time>', 'only locks held for at least this long', parseDuration)
    .option('--holder <text>', 'only locks whose holder, host:pid:startTime, begins with this')
    .option('--limit <count>', `list at most so many (default: ${LIMIT})`, parseWhole(1, 1_000_000))
    .option('--count', 'only tell how many there are, without a limit')
    .option('--watch', 'list again every 2s, in place on a terminal, until Ctrl-C');
  return addSharedOptions(command)
    .addHelpText('after', EXAMPLES)
    .action(async (pattern: string | undefined) => {
      const options = command.opts<LsOptions>();
      process.exitCode = await withLocks(options, async ({ locks, output }) => {
        do show(await find(locks, pattern, options, output), output, options);
        while (options.watch && !isOutputLost() && (await pause()));
        return ExitCode.done;
      });
    });
}

async function pause(): Promise<true> {
  await sleep(systemClock, LOOK_EVERY);
  return true;
}

/** All pages, up to the limit. Notes where that leaves keys out. */
async function find(
  locks: LockService,
  match: string | undefined,
  { olderThan = 0, holder = '', count, limit = count ? Infinity : LIMIT }: LsOptions,
  output: Output,
): Promise<readonly LockInspection[]> {
  const found = new Map<string, LockInspection>();
  let cursor: string | undefined;
  do {
    const page = await locks.list({ match, cursor, limit: Math.min(limit + 1, LARGEST_PAGE) });
    for (const lock of page.locks)
      if ((lock.heldFor ?? 0) >= olderThan && isOf(lock, holder)) found.set(lock.key, lock);
    ({ cursor } = page);
  } while (cursor !== undefined && found.size <= limit);
  if (found.size > limit) output.note(`there are more: only ${limit} ${limit === 1 ? 'is' : 'are'} listed, see --limit`); // prettier-ignore
  return [...found.values()].slice(0, limit);
}

function isOf({ holder, holders = [] }: LockInspection, start: string): boolean {
  return start === '' || [holder, ...holders].some((each) => each?.startsWith(start));
}

function show(
  found: readonly LockInspection[],
  output: Output,
  { waiters = false, watch = false, count = false }: LsOptions,
): void {
  if (watch && output.isScreen) process.stdout.write(REDRAW);
  if (count) output.data({ count: found.length }, () => String(found.length));
  else if (output.isJson) {
    for (const { waiters: queue, ...lock } of found)
      output.data(waiters ? { ...lock, waiters: queue } : lock, String);
  } else if (found.length > 0) output.data({}, () => lockTable(found, output, waiters));
  else output.note('no key is held');
}
