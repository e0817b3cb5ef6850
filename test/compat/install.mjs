// Installs one older Nest, exactly as its lockfile says. Quick when that has been done before.
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const HERE = fileURLToPath(new URL('.', import.meta.url));
const OPTIONS = ['--no-audit', '--no-fund', '--ignore-scripts', '--loglevel=error'];

/** `major`: `10` or `11`. */
export function install(major) {
  const directory = join(HERE, `nest${major}`);
  if (!existsSync(directory)) throw new Error(`There is no test/compat/nest${major}`);
  const stamp = join(directory, 'node_modules', '.installed');
  const lock = createHash('sha256')
    .update(readFileSync(join(directory, 'package-lock.json')))
    .digest('hex');
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === lock) return;
  execFileSync('npm', ['ci', ...OPTIONS], {
    cwd: directory,
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  writeFileSync(stamp, lock);
}
