import { LockService } from '../../core/lock.service.js';
import { reasonOf } from '../../core/contract/safe-error.js';
import { CommandError, usageError } from '../output/command-error.js';
import { ExitCode } from '../output/exit-codes.js';
import { Output } from '../output/output.js';
import { STORE_TIMEOUT, addCommonOptions, setting } from '../settings/shared-options.js';
import type { CommonOptions } from '../settings/shared-options.js';
import { openStore } from '../store/open-store.js';
import type { OpenedStore } from '../store/opened-store.js';
import type { Command } from 'commander';
import type { LockStore } from '../../core/contract/lock-store.js';

/** The options of commands with two stores. */
export interface SidesOptions extends CommonOptions {
  /** A URL; from the file of `--config` also a store, or a function that returns one. */
  readonly from?: unknown;
  readonly to?: unknown;
  readonly fromPrefix?: string | undefined;
  readonly toPrefix?: string | undefined;
}

/** The stores of a move, which are closed with the command. */
export interface Sides {
  readonly from: LockStore;
  readonly to: LockStore;
  readonly output: Output;
  /** Throws `CommandError` where a store does not answer. Takes nothing. */
  readonly reach: () => Promise<void>;
}

type Name = 'from' | 'to';

export function addSidesOptions(command: Command): Command {
  command
    .addOption(setting('--from <url>', 'the store that is left, as --store of other commands'))
    .addOption(setting('--to <url>', 'the store that is moved to'))
    .addOption(setting('--from-prefix <text>', 'as --prefix of other commands, for --from'))
    .addOption(setting('--to-prefix <text>', 'as --prefix of other commands, for --to'));
  return addCommonOptions(command);
}

/** Opens both stores, calls `work`, and closes them. Resolves with the exit code that `work` gives. */
export async function withSides(
  options: SidesOptions,
  work: (sides: Sides) => Promise<number>,
): Promise<number> {
  checkNamed(options);
  const { storeTimeout = STORE_TIMEOUT } = options;
  const from = await open('from', options.from, options.fromPrefix);
  const to = await open('to', options.to, options.toPrefix);
  const sides = [from, to].map(({ store }) => new LockService(store, { storeTimeout }));
  const reach = async () => {
    await reachable('from', sides[0]!, storeTimeout);
    await reachable('to', sides[1]!, storeTimeout);
  };
  try {
    return await work({ from: from.store, to: to.store, output: new Output(options), reach });
  } finally {
    await Promise.all(sides.map((side) => side.close()));
    await Promise.all([from.close(), to.close()]);
  }
}

/** Throws `CommandError` where one of them is missing. */
export function checkNamed({ from, to }: SidesOptions): void {
  for (const [name, value] of Object.entries({ from, to }))
    if (value === undefined || value === '')
      throw usageError(`name both stores: --${name} redis://…, or HOLDFAST_${name.toUpperCase()}`);
}

async function open(name: Name, url: unknown, prefix: string | undefined): Promise<OpenedStore> {
  try {
    return await openStore(url, { prefix });
  } catch (error) {
    if (error instanceof CommandError)
      throw new CommandError(error.exitCode, `--${name}: ${error.message}`, { cause: error });
    throw error;
  }
}

async function reachable(name: Name, locks: LockService, timeout: number): Promise<void> {
  const { status, reason } = await locks.health({ probe: 'read', timeout });
  if (status === 'down') throw storeDown(name, reason ?? 'unknown');
}

/** The error of a store that does not answer. */
export function storeDown(name: Name, reason: unknown): CommandError {
  const text = typeof reason === 'string' ? reason : reasonOf(reason);
  return new CommandError(ExitCode.storeDown, `--${name} does not answer: ${text}. See that its server runs, and that the URL is right`); // prettier-ignore
}
