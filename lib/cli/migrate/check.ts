import { Command } from 'commander';
import { checkMigration } from '../../migrate/checks/check-migration.js';
import type { MigrationCheck, MigrationFinding } from '../../migrate/checks/check-migration.js';
import { columns } from '../output/columns.js';
import { ExitCode } from '../output/exit-codes.js';
import { oneLine } from '../output/failure.js';
import type { Output } from '../output/output.js';
import { parseDuration } from '../settings/duration.js';
import { STORE_TIMEOUT, setting } from '../settings/shared-options.js';
import { addSidesOptions, withSides } from './sides.js';
import type { SidesOptions } from './sides.js';

interface CheckOptions extends SidesOptions {
  readonly largestTtl?: number;
}

/** Milliseconds: the default ttl of locks. */
const LARGEST_TTL = 30_000;

const EXAMPLES = `
Takes a lock with a random key in both stores, and releases it.

Exit code: 0 when the move may begin, also with hints; 1 when it may not; 69 when a store does not grant.

Examples:
  $ holdfast migrate check --from redis://old:6379 --to redis://new:6379
  $ holdfast migrate check --from redis://old:6379 --to etcd://new:2379 --largest-ttl 5m --json
`;

export function checkCommand(): Command {
  const command = new Command('check')
    .summary('whether locks can move from one store to another')
    .description('Checks whether locks can move from one store to another one.');
  return addSidesOptions(command)
    .addOption(
      setting(
        '--largest-ttl <time>',
        'the largest ttl that a process of the old configuration uses (default: 30s)',
        parseDuration,
      ),
    )
    .addHelpText('after', EXAMPLES)
    .action(async () => {
      const options = command.opts<CheckOptions>();
      const { largestTtl = LARGEST_TTL, storeTimeout: timeout = STORE_TIMEOUT } = options;
      process.exitCode = await withSides(options, async ({ from, to, output, reach }) => {
        await reach();
        const check = await checkMigration({ from, to, largestTtl, timeout });
        tell(check, output);
        if (check.findings.some(({ code }) => code === 'UNREACHABLE')) return ExitCode.storeDown;
        return check.ok ? ExitCode.done : ExitCode.no;
      });
    });
}

function tell({ findings, ok, skew }: MigrationCheck, output: Output): void {
  if (output.isJson) {
    output.data({ ok, findings, skew }, String);
    return;
  }
  const rows = findings.map((finding) => rowOf(finding, output));
  const verdict = ok ? output.styled('green', 'ok') : output.styled('red', 'no');
  const said = ok ? 'the move may begin' : 'the move may not begin';
  output.data({}, () => columns([...rows, [verdict, '', said]]));
}

function rowOf({ severity, code, message }: MigrationFinding, output: Output): string[] {
  const isError = severity === 'error';
  return [
    output.styled(isError ? 'red' : 'yellow', isError ? 'problem' : 'hint'),
    code,
    oneLine(message),
  ];
}
