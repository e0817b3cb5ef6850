import { Command } from 'commander';
import { ExitCode } from '../output/exit-codes.js';
import { columns } from '../output/columns.js';
import type { Output } from '../output/output.js';
import { checkRedis } from '../doctor/redis-checks.js';
import type { Check } from '../doctor/check.js';
import { checkStore } from '../doctor/store-checks.js';
import { addSharedOptions } from '../settings/shared-options.js';
import type { SharedOptions } from '../settings/shared-options.js';
import { withLocks } from './with-locks.js';

const EXAMPLES = `
Takes and frees a lock of its own. Of each Redis it also reads eviction, persistence, ACL, clock and replicas.

Exit code: 0 when all is well, also with hints; 1 when locks may be lost or fail; 69 when the store is down.

Examples:
  $ holdfast doctor --store redis://localhost:6379
  $ holdfast doctor --json | jq 'select(.status != "ok")'
`;

export function doctorCommand(): Command {
  const command = new Command('doctor')
    .summary('check the servers of a store')
    .description(
      'Checks whether locks can be taken, and the settings that lose locks in practice.',
    );
  return addSharedOptions(command)
    .addHelpText('after', EXAMPLES)
    .action(async () => {
      process.exitCode = await withLocks(
        command.opts<SharedOptions>(),
        async ({ locks, opened, output }) => {
          const first = await checkStore(locks);
          const isDown = first.status === 'down';
          const redis = isDown
            ? []
            : await checkRedis(opened, command.opts<SharedOptions>().prefix);
          const checks = [first, ...redis];
          tell(checks, output);
          if (isDown) return ExitCode.storeDown;
          return checks.some(({ status }) => status === 'problem') ? ExitCode.no : ExitCode.done;
        },
      );
    });
}

const COLOURS = { ok: 'green', hint: 'yellow', problem: 'red', down: 'red' } as const;

function tell(checks: readonly Check[], output: Output): void {
  if (output.isJson) for (const check of checks) output.data(check, String);
  else {
    const rows = checks.map(({ status, about, message }) => [output.styled(COLOURS[status], status), about, output.styled('reset', message)]); // prettier-ignore
    output.data({}, () => columns(rows));
  }
}
