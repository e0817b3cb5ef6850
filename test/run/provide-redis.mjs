import { execFileSync } from 'node:child_process';
import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { runCommand } from './run-command.mjs';

const OLDEST = 6;
const POLICY = '/usr/sbin/policy-rc.d';
const HOW_TO_INSTALL = `
The tests start Redis servers of their own and need the program redis-server, version ${OLDEST} or later:
  Debian, Ubuntu   sudo apt-get install redis-server
  macOS            brew install redis
  elsewhere        docker compose run --rm test
REDIS_SERVER=/path/to/redis-server names one that is not on the PATH.`;

/** Finds the program, or installs it where that can be done. Rejects with advice. */
export async function provideRedis() {
  const program = process.env['REDIS_SERVER'] ?? 'redis-server';
  if (isUsable(program)) return program;
  if (!process.env['REDIS_SERVER'] && canInstall()) await install();
  if (isUsable(program)) return program;
  throw new Error(HOW_TO_INSTALL);
}

function isUsable(program) {
  try {
    const version = execFileSync(program, ['--version'], { encoding: 'utf8', stdio: 'pipe' });
    return Number(/v=(\d+)/.exec(version)?.[1]) >= OLDEST;
  } catch {
    return false; // no such program
  }
}

function canInstall() {
  return existsSync('/etc/debian_version') && process.getuid?.() === 0;
}

/** Installs the Debian package, and keeps Debian from starting the server as a service. */
async function install() {
  const mustForbid = !existsSync(POLICY);
  if (mustForbid) writeFileSync(POLICY, '#!/bin/sh\nexit 101\n', { mode: 0o755 });
  try {
    const env = { DEBIAN_FRONTEND: 'noninteractive' };
    await runCommand(['apt-get', 'update'], { env });
    const options = ['-y', '--no-install-recommends'];
    await runCommand(['apt-get', 'install', ...options, 'redis-server'], { env });
  } finally {
    if (mustForbid) rmSync(POLICY, { force: true });
  }
}
