import { realpathSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { usageError } from '../output/command-error.js';

/**
 * Loads the client of a store, which is an optional peer of this package: beside it, or from the working folder. Throws
 * `CommandError` with what to install.
 */
export function loadClient(name: string): unknown {
  const load = loaderOf(name, [besidePackage(), process.cwd()]);
  if (load === undefined) throw missing(name);
  return load(name);
}

/** For a client that its store loads: it has to be beside this package. Throws `CommandError` where it is not. */
export function checkClient(name: string): void {
  if (loaderOf(name, [besidePackage()]) === undefined) throw missing(name);
}

function missing(name: string): Error {
  return usageError(
    `this store needs the package ${packageOf(name)}: npm install nest-holdfast ${packageOf(name)}, or npx -p nest-holdfast -p ${packageOf(name)} holdfast …`,
  );
}

function packageOf(name: string): string {
  return name.split('/')[0]!;
}

/** The folder of the program, behind the link in `node_modules/.bin`. */
function besidePackage(): string {
  return dirname(realpathSync(process.argv[1]!));
}

/** Of the first folder that has it. */
function loaderOf(name: string, folders: readonly string[]): NodeJS.Require | undefined {
  for (const folder of folders) {
    const load = createRequire(join(folder, 'from-here.js'));
    try {
      load.resolve(name);
      return load;
    } catch {
      // not there: the next folder may have it
    }
  }
  return undefined;
}
