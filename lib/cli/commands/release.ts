import { Command } from 'commander';
import { userInfo } from 'node:os';
import type { LockEviction } from '../../core/evict/evict-holder.js';
import { printable } from '../../core/text/printable.js';
import { usageError } from '../output/command-error.js';
import { confirm } from '../output/questions.js';
import { ExitCode } from '../output/exit-codes.js';
import { openAudit } from '../output/audit-file.js';
import { parseDuration } from '../settings/duration.js';
import { parseToken } from '../settings/numbers.js';
import { addSharedOptions, setting } from '../settings/shared-options.js';
import type { SharedOptions } from '../settings/shared-options.js';
import { fenceGateOf } from '../store/fence-gate.js';
import { withLocks } from './with-locks.js';

interface ReleaseOptions extends SharedOptions {
  readonly token: bigint;
  readonly grace?: number;
  readonly force?: boolean;
  readonly reason?: string;
  readonly actor?: string;
  readonly yes?: boolean;
  readonly fenceGate?: string;
  readonly auditFile?: string;
}

const EXAMPLES = `
The token names the holder, so that no later one is evicted: see "holdfast inspect". The holder is asked to end its work, and has
--grace for it; then the key is taken, and goes to the next waiter. A holder that hangs learns of it when it goes on: what it
writes then is refused only where the resource checks fencing tokens, and has seen the new one.

Exit code: 0 when the holder was evicted, 1 when it was not.

Examples:
  $ holdfast release order:42 --token 1795467757307342 --reason 'stuck, see INC-7'
  $ holdfast release order:42 --token 1795467757307342 --force --yes --fence-gate redis://localhost:6379
`;

export function releaseCommand(): Command {
  const command = new Command('release')
    .summary('take a key from its holder')
    .description('Evicts the holder of a key: asks it to stop, then takes the key.');
  command
    .argument('<key>', 'the key, without the prefix of the store')
    .requiredOption('--token <number>', 'fencing token of the holder', parseToken)
    .addOption(
      setting(
        '--grace <time>',
        'how long the holder may end its work (default: 10s)',
        parseDuration,
      ),
    )
    .option('--force', 'take the key at once, without asking the holder')
    .option('--reason <text>', 'why, for the audit')
    .addOption(
      setting('--actor <name>', 'who does it, for the audit (default: the user of this process)'),
    )
    .option('--yes', 'do not ask for a confirmation')
    .addOption(
      setting('--fence-gate <url>', 'Redis of a RedisFencingGate: leave the new token there'),
    )
    .addOption(
      setting('--audit-file <file>', 'append the audit to this file, one JSON object per line'),
    );
  return addSharedOptions(command)
    .addHelpText('after', EXAMPLES)
    .action(async (key: string) => {
      process.exitCode = await release(key, command.opts<ReleaseOptions>());
    });
}

function release(key: string, options: ReleaseOptions): Promise<number> {
  const { token: fencingToken, reason, actor = userInfo().username, force, grace } = options;
  if (force && grace) throw usageError('give either --force or --grace, not both');
  return withLocks(options, async ({ locks, output }) => {
    const gate = options.fenceGate === undefined ? undefined : fenceGateOf(options.fenceGate);
    if (!options.yes)
      await confirm('release', `Take ${printable(key)} from the holder of token ${fencingToken}?`);
    const audit = openAudit(options.auditFile);
    locks.events.on('audit', audit);
    const named = { fencingToken, via: 'cli', actor, ...(reason !== undefined && { reason }) };
    const eviction = await locks.evict(key, { ...named, grace: force ? 0 : grace });
    const { tokenAfter } = eviction;
    if (gate && tokenAfter !== undefined) await gate.enter({ key, fencingToken: tokenAfter });
    output.data(eviction, () => OUTCOMES[eviction.outcome](eviction));
    if (!gate && tokenAfter !== undefined) output.note(fenceAdvice(tokenAfter));
    return eviction.evicted ? ExitCode.done : ExitCode.no;
  });
}

type Outcomes = Readonly<Record<LockEviction['outcome'], (eviction: LockEviction) => string>>;

const OUTCOMES: Outcomes = {
  taken: ({ key, holder, tokenAfter }) =>
    `${printable(key)} was taken from ${nameOf(holder)}; new token ${tokenAfter ?? 'none'}`,
  released: ({ key, holder }) => `${nameOf(holder)} was asked, and has released ${printable(key)}`,
  'not-held': ({ key, holder }) =>
    `${printable(key)} is not held with this token${holder === undefined ? '' : `, but by ${nameOf(holder)}`}: nothing was done`,
  unconfirmed: ({ key, tokenBefore }) =>
    `${printable(key)} has a holder that does not say whether this is its token: to evict it nevertheless, name the token ${tokenBefore ?? 'of "holdfast inspect"'}`,
};

function nameOf(holder: string | undefined): string {
  return printable(holder ?? 'its holder');
}

function fenceAdvice(token: bigint): string {
  return `a holder that goes on is stopped only by a resource that has seen the token ${token}: UPDATE your_table SET fence = ${token} WHERE id = … AND fence < ${token}`;
}
