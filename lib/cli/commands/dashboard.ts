import { Command } from 'commander';
import { createServer } from 'node:http';
import type { IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { once } from 'node:events';
import { lockDashboard } from '../../dashboard/entries/lock-dashboard.js';
import { reasonOf } from '../../core/contract/safe-error.js';
import { usageError } from '../output/command-error.js';
import { ExitCode } from '../output/exit-codes.js';
import { parseWhole } from '../settings/numbers.js';
import { addSharedOptions, setting } from '../settings/shared-options.js';
import type { SharedOptions } from '../settings/shared-options.js';
import { withLocks } from './with-locks.js';

interface DashboardOptions extends SharedOptions {
  readonly port?: number;
}

const HOST = '127.0.0.1';
const PORT = 4_600;

const EXAMPLES = `
Everybody who can open a port of this machine can see the keys. From another machine: ssh -L 4600:127.0.0.1:4600 host

Examples:
  $ holdfast dashboard
  $ holdfast dashboard --port 0 --json
`;

export function dashboardCommand(): Command {
  const command = new Command('dashboard')
    .summary('the live page of the locks')
    .description(`Serves the live page of the locks on ${HOST}, read-only, until Ctrl-C.`);
  command.addOption(
    setting(
      '--port <number>',
      `port to listen on, 0 for any (default: ${PORT})`,
      parseWhole(0, 65_535),
    ),
  );
  return addSharedOptions(command)
    .addHelpText('after', EXAMPLES)
    .action(async () => {
      const options = command.opts<DashboardOptions>();
      process.exitCode = await withLocks(options, async ({ locks, output }) => {
        const page = lockDashboard<IncomingMessage>({ locks, authorize: isLocal });
        const server = createServer((request, response) => page(request, response));
        const failed = once(server, 'error').then(([error]) => {
          throw usageError(`the page cannot be served: ${reasonOf(error)}. Give another --port`);
        });
        server.listen(options.port ?? PORT, HOST);
        await Promise.race([once(server, 'listening'), failed]);
        const url = `http://${HOST}:${(server.address() as AddressInfo).port}/`;
        output.data({ url }, () => url);
        await Promise.race([once(process, 'SIGINT'), once(process, 'SIGTERM'), failed]);
        page.close();
        server.closeAllConnections();
        return ExitCode.done;
      });
    });
}

/** A page of another site, whose name leads to this machine, is refused: its requests name that site. */
function isLocal({ headers }: IncomingMessage): boolean {
  return /^(127\.0\.0\.1|localhost|\[::1\])(:\d+)?$/.test(headers.host ?? '');
}
