import { InvalidArgumentError } from 'commander';
import type { Command, Option } from 'commander';
import { show } from '../../core/options/option-values.js';
import { usageError } from '../output/command-error.js';
import { readConfigFile } from './config-file.js';

/** Sets each option of `command` that neither a flag nor the environment has set, where the file has it. Throws `CommandError`. */
export async function applyConfigFile(command: Command): Promise<void> {
  const file = await readConfigFile(command.getOptionValue('config') as string | undefined);
  const known = new Set(commandsOf(programOf(command)).flatMap((each) => each.options.map(nameOf)));
  for (const [name, value] of Object.entries(file)) {
    if (!known.has(name))
      throw usageError(
        `the file of --config has the unknown option ${name}: its options are ${[...known].join(', ')}`,
      );
    const option = command.options.find((each) => nameOf(each) === name);
    const isSet = command.getOptionValueSource(name) !== undefined;
    if (option && !isSet) command.setOptionValueWithSource(name, parsed(option, value), 'config');
  }
}

function programOf(command: Command): Command {
  return command.parent ? programOf(command.parent) : command;
}

/** Those of `command`, at any depth. */
export function commandsOf({ commands }: Command): Command[] {
  return commands.flatMap((each) => [each, ...commandsOf(each)]);
}

function nameOf(option: Option): string {
  return option.attributeName();
}

/** As on the command line, where times and numbers are texts. */
function parsed(option: Option, value: unknown): unknown {
  const isText = typeof value === 'string' || typeof value === 'number';
  if (!option.parseArg || !isText) return value;
  try {
    return option.parseArg(String(value), undefined);
  } catch (error) {
    if (!(error instanceof InvalidArgumentError)) throw error;
    throw usageError(
      `the file of --config has ${nameOf(option)}: ${show(value)}. ${error.message}`,
    );
  }
}
