// PostgreSQL and MariaDB as their makers deliver them, durable commits included, with room for many connections.
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import programs from '../../test/support/processes/server-programs.cjs';
import { startServer } from './server-process.mjs';
import { accountFor, firstWords, giveTo, needed, versionOf } from './server-tools.mjs';

const CONNECTIONS = 500;

/** User and database `postgres`, no password. */
export async function startPostgres() {
  const initdb = needed(programs.initdb(), 'PostgreSQL');
  const file = needed(programs.postgres(), 'PostgreSQL');
  const account = accountFor('postgres');
  const server = await startServer({
    name: 'postgres',
    endSignal: 'SIGQUIT', // at once, with its children
    prepare(folder) {
      giveTo(folder, account);
      const place = ['-D', join(folder, 'data'), '-U', 'postgres', '-A', 'trust'];
      const text = ['-E', 'UTF8', '--locale=C'];
      execFileSync(initdb, [...place, ...text], { ...account, cwd: folder, stdio: 'pipe' });
    },
    command(folder, port) {
      const settings = {
        listen_addresses: '127.0.0.1',
        unix_socket_directories: '',
        max_connections: CONNECTIONS,
      };
      const flags = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
      return { file, args: ['-D', join(folder, 'data'), '-p', String(port), ...flags], ...account };
    },
    isReady: async (port) => (await firstWords(port, logIn('postgres'))).startsWith('R'),
  });
  return { ...server, version: versionOf(file) };
}

/** User `root`, no password, database `bench`. */
export async function startMariadb() {
  const install = needed(programs.mariadbInstall(), 'MariaDB');
  const file = needed(programs.mariadb(), 'MariaDB');
  const account = accountFor('mysql');
  const user = account ? ['--user=mysql'] : [];
  const server = await startServer({
    name: 'mariadb',
    prepare(folder) {
      giveTo(folder, account);
      const place = ['--no-defaults', `--datadir=${join(folder, 'data')}`, '--skip-test-db'];
      const access = ['--auth-root-authentication-method=normal'];
      execFileSync(install, [...place, ...access, ...user], { stdio: 'pipe' });
      writeFileSync(join(folder, 'init.sql'), 'CREATE DATABASE bench;\n');
    },
    command(folder, port) {
      const files = {
        datadir: 'data',
        socket: 'socket',
        'pid-file': 'pid',
        'init-file': 'init.sql',
      };
      const places = Object.entries(files).map(([name, at]) => `--${name}=${join(folder, at)}`);
      const address = [`--port=${port}`, '--bind-address=127.0.0.1', '--skip-name-resolve'];
      const room = [`--max-connections=${CONNECTIONS}`];
      return { file, args: ['--no-defaults', ...places, ...address, ...room, ...user] };
    },
    isReady: async (port) => (await firstWords(port, '')).includes('MariaDB'), // it speaks first
  });
  return { ...server, version: versionOf(file) };
}

/** The first message of PostgreSQL's protocol, version 3. */
function logIn(user) {
  const text = Buffer.from(`user\0${user}\0\0`);
  const head = Buffer.alloc(8);
  head.writeInt32BE(head.length + text.length, 0);
  head.writeInt32BE(3 << 16, 4);
  return Buffer.concat([head, text]);
}
