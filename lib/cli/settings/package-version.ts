import { existsSync, readFileSync, realpathSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** That of this package, by the `package.json` above the program. */
export function packageVersion(): string {
  let folder = dirname(realpathSync(process.argv[1]!));
  for (; folder !== dirname(folder); folder = dirname(folder)) {
    const { name, version } = contentOf(join(folder, 'package.json'));
    if (name === 'nest-holdfast') return version ?? 'unknown';
  }
  return 'unknown';
}

/** Nothing where there is no such file. */
function contentOf(file: string): { readonly name?: string; readonly version?: string } {
  return existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as object) : {};
}
