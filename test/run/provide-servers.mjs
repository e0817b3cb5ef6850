import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { delimiter } from 'node:path';
import { installPackages, isDebianRoot } from './install-packages.mjs';

const programs = createRequire(import.meta.url)('../support/processes/server-programs.cjs');

/** The programs from which the tests start servers of their own. `packages` are Debian's: of a list, the first that there is. */
const SERVERS = [
  {
    name: 'Redis, version 6 or later',
    startedBy: 'test/support/servers/redis-server.ts',
    isThere: () => isAtLeast(programs.redis(), /v=([\d.]+)/, [6]),
    packages: ['redis-server'],
    brew: 'redis',
    variables: ['REDIS_SERVER=…/redis-server'],
  },
  {
    name: 'ZooKeeper, with Java 11 or later',
    startedBy: 'test/support/servers/zookeeper-server.ts',
    isThere: () => hasClasses(programs.zookeeper()) && isAtLeast(programs.java(), /([\d.]+)/, [11]),
    packages: ['libzookeeper-java', 'default-jre-headless'],
    brew: 'zookeeper openjdk',
    variables: ['ZOOKEEPER_CLASSPATH=…/lib/*', 'JAVA=…/java'],
  },
  {
    name: 'PostgreSQL, version 12 or later',
    startedBy: 'test/support/servers/postgres-server.ts',
    isThere: () =>
      programs.initdb() !== undefined && isAtLeast(programs.postgres(), /\) ([\d.]+)/, [12]),
    packages: ['postgresql'],
    brew: 'postgresql',
    variables: ['POSTGRES_SERVER=…/postgres', 'POSTGRES_INITDB=…/initdb'],
  },
  {
    name: 'MariaDB, version 10.6 or later',
    startedBy: 'test/support/servers/mariadb-server.ts',
    isThere: () =>
      programs.mariadbInstall() !== undefined &&
      isAtLeast(programs.mariadb(), /Ver ([\d.]+)-MariaDB/, [10, 6]),
    packages: ['mariadb-server'],
    brew: 'mariadb',
    variables: ['MARIADB_SERVER=…/mariadbd', 'MARIADB_INSTALL_DB=…/mariadb-install-db'],
  },
  {
    name: 'etcd, version 3.4 or later',
    startedBy: 'test/support/servers/etcd-server.ts',
    isThere: () => isAtLeast(programs.etcd(), /Version: ([\d.]+)/, [3, 4]),
    packages: [['etcd-server', 'etcd']],
    brew: 'etcd',
    variables: ['ETCD_SERVER=…/etcd'],
  },
  {
    name: 'NATS, version 2.2 or later',
    startedBy: 'test/support/servers/nats-server.ts',
    isThere: () => isAtLeast(programs.nats(), /v([\d.]+)/, [2, 2]),
    packages: ['nats-server'],
    brew: 'nats-server',
    variables: ['NATS_SERVER=…/nats-server'],
  },
  {
    name: 'faketime, version 0.9 or later',
    startedBy: 'test/support/processes/fake-time.ts',
    isThere: () => isAtLeast(programs.faketime(), /([\d.]+)/, [0, 9]),
    packages: ['faketime'],
    brew: 'libfaketime',
    variables: ['FAKETIME_PROGRAM=…/faketime'],
  },
  {
    name: 'Chromium, version 120 or later',
    startedBy: 'test/support/browser/chromium.ts',
    isThere: () => isAtLeast(programs.chromium(), /([\d.]+)/, [120]),
    packages: ['chromium', 'fonts-dejavu-core'],
    brew: '--cask chromium',
    variables: ['CHROMIUM=…/chromium'],
  },
];

/** Finds every program, or installs what is missing where that can be done. Resolves with those that are still missing. */
export async function provideServers() {
  const missing = missingServers();
  if (missing.length === 0 || !isDebianRoot()) return missing;
  console.log(`Installs ${missing.map(({ name }) => name).join('; ')}`);
  await installPackages(missing.flatMap(({ packages }) => packages));
  return missingServers();
}

/** A line for each server that is missing: how to get it. */
export function adviceOn(servers) {
  const lines = servers.map(({ name, packages, brew, variables }) => {
    const names = packages.map((each) => [each].flat()[0]).join(' ');
    return `  ${name}: sudo apt-get install ${names}; brew install ${brew}; or set ${variables.join(' and ')}`;
  });
  const heading =
    'The tests start servers of their own. These are missing here, or older than that:';
  return [heading, ...lines, 'Specs that need none of them run all the same.'].join('\n');
}

function missingServers() {
  return SERVERS.filter(({ isThere }) => !isThere());
}

/** Whether a class path leads to a folder or a file: a variable may name any. */
function hasClasses(path = '') {
  return path.split(delimiter).some((each) => existsSync(each.replace(/\*$/, '')));
}

function isAtLeast(program, pattern, oldest) {
  if (program === undefined) return false;
  try {
    const words = execFileSync(program, ['--version'], { encoding: 'utf8', stdio: 'pipe' });
    const version = (pattern.exec(words)?.[1] ?? '').split('.').map(Number);
    const differing = oldest.findIndex((part, index) => version[index] !== part);
    return differing < 0 || version[differing] > oldest[differing];
  } catch {
    return false; // no such program
  }
}
