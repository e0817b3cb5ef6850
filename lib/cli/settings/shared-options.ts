import { Option } from 'commander';
import type { Command } from 'commander';
import { parseDuration } from './duration.js';

/** The options of commands with one store. */
export interface SharedOptions extends CommonOptions {
  /** A URL; from the file of `--config` also a store, or a function that returns one. */
  readonly store?: unknown;
  readonly prefix?: string | undefined;
}

/** The options that every command has that asks stores. */
export interface CommonOptions {
  readonly config?: string | undefined;
  readonly storeTimeout?: number | undefined;
  readonly json?: boolean | undefined;
}

/** Milliseconds for one answer of the store. */
export const STORE_TIMEOUT = 5_000;

/**
 * An option that the environment may set, too: `--kill-after` by `HOLDFAST_KILL_AFTER`. An empty variable sets nothing. Compose files
 * make one of a variable that is missing, and an empty prefix would name other keys.
 */
export function setting(
  flags: string,
  description: string,
  parse?: (text: string) => unknown,
): Option {
  const option = new Option(flags, description);
  const name = option.long!.slice(2).replace(/^no-/, '');
  const variable = `HOLDFAST_${name.toUpperCase().replaceAll('-', '_')}`;
  if (process.env[variable] !== '') option.env(variable);
  return parse ? option.argParser(parse) : option;
}

export function addSharedOptions(command: Command): Command {
  command
    .addOption(
      setting(
        '--store <url>',
        'where the locks are: redis://, rediss://, redlock:, etcd://, zookeeper://, postgres://, mysql://, sqlite:',
      ),
    )
    .addOption(
      setting(
        '--prefix <text>',
        'keyPrefix on Redis, prefix on etcd, root on ZooKeeper, table in SQL',
      ),
    );
  return addCommonOptions(command);
}

export function addCommonOptions(command: Command): Command {
  return command
    .addOption(
      setting(
        '--store-timeout <time>',
        'how long one answer of the store may take (default: 5s)',
        parseDuration,
      ),
    )
    .addOption(configFile())
    .addOption(jsonLines());
}

export function configFile(): Option {
  return setting(
    '--config <file>',
    'file with the options (default: holdfast.config.mjs, if it is there)',
  );
}

export function jsonLines(): Option {
  return new Option('--json', 'one JSON object per line, fencing tokens as strings');
}
