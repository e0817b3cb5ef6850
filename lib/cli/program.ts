import { Command, CommanderError } from 'commander';
import { dashboardCommand } from './commands/dashboard.js';
import { doctorCommand } from './commands/doctor.js';
import { inspectCommand } from './commands/inspect.js';
import { lsCommand } from './commands/ls.js';
import { migrateCommand } from './commands/migrate.js';
import { releaseCommand } from './commands/release.js';
import { runCommand } from './commands/run.js';
import { waitCommand } from './commands/wait.js';
import { CommandError } from './output/command-error.js';
import { ExitCode } from './output/exit-codes.js';
import { failureOf, oneLine } from './output/failure.js';
import { outputFailure } from './output/lost-output.js';
import { packageVersion } from './settings/package-version.js';
import { applyConfigFile, commandsOf } from './settings/config-values.js';

const COMMANDS = [
  lsCommand,
  inspectCommand,
  waitCommand,
  runCommand,
  releaseCommand,
  doctorCommand,
  dashboardCommand,
  migrateCommand,
];

const AFTER_HELP = `
Options come from flags, then from the environment (HOLDFAST_STORE, HOLDFAST_TTL, …), then from the file of --config.
Exit codes: 0 done, 1 no, 64 usage, 69 store down, 70 lock lost, 75 key busy, 126 and 127 command not run.
`;

/** Runs the command line. Resolves with its exit code. Never rejects. */
export async function runProgram(args: readonly string[]): Promise<number> {
  const program = programOf();
  try {
    await program.parseAsync([...args], { from: 'user' });
    const failure = outputFailure();
    if (failure !== undefined)
      throw new CommandError(ExitCode.lost, `the output is not whole: ${failure}`);
    return Number(process.exitCode ?? ExitCode.done);
  } catch (error) {
    if (error instanceof CommanderError)
      return error.exitCode === 0 ? ExitCode.done : ExitCode.usage;
    const { exitCode, line } = failureOf(error);
    process.stderr.write(`holdfast: ${line}\n`);
    return exitCode;
  }
}

function programOf(): Command {
  const program = new Command('holdfast')
    .description(
      'Distributed locks from the command line: who holds what, and your command under a lock.',
    )
    .version(packageVersion())
    .addHelpText('after', AFTER_HELP)
    .hook('preAction', (_program, command) => applyConfigFile(command))
    .showHelpAfterError(false);
  for (const make of COMMANDS) program.addCommand(make());
  for (const command of [program, ...commandsOf(program)]) speakInLines(command);
  return program;
}

/** Errors of usage as all others: one line, without secrets. */
function speakInLines(command: Command): void {
  const help = `${nameOf(command)} --help`;
  command.exitOverride().configureOutput({
    outputError: (text, write) => {
      const line = oneLine(text.replace(/^error: /, '')).replace(/\.$/, '');
      write(`holdfast: ${line}. See "${help}"\n`);
    },
  });
}

/** `holdfast migrate copy` */
function nameOf(command: Command): string {
  return command.parent ? `${nameOf(command.parent)} ${command.name()}` : command.name();
}
