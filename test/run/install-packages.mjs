import { spawnSync } from 'node:child_process';
import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { runCommand } from './run-command.mjs';

const POLICY = '/usr/sbin/policy-rc.d';
const ENV = { DEBIAN_FRONTEND: 'noninteractive' };

export function isDebianRoot() {
  return existsSync('/etc/debian_version') && process.getuid?.() === 0;
}

/** Installs Debian packages, of a list of names the first that there is, and keeps Debian from starting them as services. */
export async function installPackages(packages) {
  const mustForbid = !existsSync(POLICY);
  if (mustForbid) writeFileSync(POLICY, '#!/bin/sh\nexit 101\n', { mode: 0o755 });
  try {
    await runCommand(['apt-get', 'update'], { env: ENV });
    const names = packages.map((each) => [each].flat().find(isKnown) ?? [each].flat()[0]);
    const options = ['-y', '--no-install-recommends'];
    await runCommand(['apt-get', 'install', ...options, ...names], { env: ENV });
  } finally {
    if (mustForbid) rmSync(POLICY, { force: true });
  }
}

function isKnown(name) {
  const { stdout } = spawnSync('apt-cache', ['show', '--no-all-versions', name]);
  return String(stdout).startsWith('Package:');
}
