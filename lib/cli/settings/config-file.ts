import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { reasonOf } from '../../core/contract/safe-error.js';
import { usageError } from '../output/command-error.js';

const DEFAULT_FILE = 'holdfast.config.mjs';

/** The content of a file: names of options in camel case, and `store`, which may also be a store or a function that returns one. */
export type ConfigFile = Readonly<Record<string, unknown>>;

/** Reads `path`, or `holdfast.config.mjs` of the working folder where there is one. Throws `CommandError`. */
export async function readConfigFile(path: string | undefined): Promise<ConfigFile> {
  const file = resolve(path ?? DEFAULT_FILE);
  if (!existsSync(file)) {
    if (path === undefined) return {};
    throw usageError(
      `${path} is not there: --config names the file whose default export has the options`,
    );
  }
  const config = await load(file);
  if (typeof config === 'object' && config !== null) return valuesOf(config, file);
  throw usageError(
    `${file} must have its options as its default export: export default { store: 'redis://…' }`,
  );
}

/** Throws `CommandError` for a member that throws where it is read. */
function valuesOf(config: object, file: string): ConfigFile {
  try {
    return { ...config };
  } catch (cause) {
    throw usageError(`${file} cannot be read: ${reasonOf(cause)}`);
  }
}

async function load(file: string): Promise<unknown> {
  try {
    return ((await import(pathToFileURL(file).href)) as { readonly default?: unknown }).default;
  } catch (cause) {
    throw usageError(`${file} cannot be loaded: ${reasonOf(cause)}`);
  }
}
