import { Command } from 'commander';
import { checkCommand } from '../migrate/check.js';
import { copyCommand } from '../migrate/copy.js';
import { statusCommand } from '../migrate/status.js';

const EXAMPLES = `
Examples:
  $ holdfast migrate check --from redis://old:6379 --to etcd://new:2379
  $ holdfast migrate status --wait 5m
`;

export function migrateCommand(): Command {
  return new Command('migrate')
    .summary('move the locks to another store')
    .description('Moves locks from one store to another one while they are taken.')
    .addCommand(checkCommand())
    .addCommand(statusCommand())
    .addCommand(copyCommand())
    .addHelpText('after', EXAMPLES);
}
