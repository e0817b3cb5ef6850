import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';

const ROOT = join(__dirname, '..', '..', '..');
const BUNDLER = join(__dirname, 'bundle-cli.mjs');
/** Below `node_modules`, so that the program finds the clients of servers as one that is installed does. */
const CACHE = join(ROOT, 'node_modules', '.cache', 'holdfast-tests');

let program: string | undefined;

/** The command line, bundled from its sources once for each spec. It is removed with the process. */
export function builtCli(): string {
  if (program !== undefined) return program;
  mkdirSync(CACHE, { recursive: true });
  const folder = mkdtempSync(join(CACHE, 'cli-'));
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  execFileSync(process.execPath, [BUNDLER, folder], { encoding: 'utf8' });
  program = join(folder, 'holdfast.mjs');
  return program;
}
