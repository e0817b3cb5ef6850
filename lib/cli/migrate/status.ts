import { Command } from 'commander';
import { systemClock } from '../../core/async/clock.js';
import { sleep } from '../../core/async/sleep.js';
import { migrationStatus } from '../../migrate/checks/migration-status.js';
import type { MigrationStatus } from '../../migrate/checks/migration-status.js';
import { ExitCode } from '../output/exit-codes.js';
import { lockTable } from '../output/lock-lines.js';
import type { Output } from '../output/output.js';
import { parseWait } from '../settings/duration.js';
import { setting } from '../settings/shared-options.js';
import { addSidesOptions, withSides } from './sides.js';
import type { Sides, SidesOptions } from './sides.js';

interface StatusOptions extends SidesOptions {
  readonly wait?: number;
}

/** Milliseconds between two looks. */
const LOOK_EVERY = 1_000;

const EXAMPLES = `
Counts the locks of both stores, and lists those that are in --from alone: of processes that do not hold them in both.

Exit code: 0 when each lock of --from is in --to, too; 1 when one is not, at the end of --wait.

Examples:
  $ holdfast migrate status --from redis://old:6379 --to redis://new:6379
  $ holdfast migrate status --wait 5m && ./roll-out.sh to
`;

export function statusCommand(): Command {
  const command = new Command('status')
    .summary('how far a move is')
    .description('Shows how far a move between two stores is. Takes nothing.');
  return addSidesOptions(command)
    .addOption(
      setting(
        '--wait <time>',
        'wait until no lock is in --from alone, or forever (default: 0)',
        parseWait,
      ),
    )
    .addHelpText('after', EXAMPLES)
    .action(async () => {
      const options = command.opts<StatusOptions>();
      process.exitCode = await withSides(options, async (sides) => {
        await sides.reach();
        const status = await pairedStatus(sides, options.wait ?? 0);
        tell(status, sides.output);
        return status.isPaired ? ExitCode.done : ExitCode.no;
      });
    });
}

/** The first one without locks in `from` alone, or the last one within `wait` ms. */
async function pairedStatus({ from, to }: Sides, wait: number): Promise<MigrationStatus> {
  const end = systemClock.now() + wait;
  for (;;) {
    const status = await migrationStatus({ from, to });
    const left = end - systemClock.now();
    if (status.isPaired || left <= 0) return status;
    await sleep(systemClock, Math.min(left, LOOK_EVERY));
  }
}

function tell(status: MigrationStatus, output: Output): void {
  const { from, to, unpaired } = status;
  output.data(
    status,
    () => `${from} locks in --from, ${to ?? '?'} in --to, ${unpaired.length} in --from alone`,
  );
  if (!output.isJson && unpaired.length > 0)
    output.data({}, () => lockTable(unpaired, output, false));
}
