import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { createConnection } from 'mysql2/promise';
import { accountFor, giveTo } from '../processes/server-account.js';
import {
  type ServerCommand,
  ServerProcess,
  needed,
  startOnFreePort,
} from '../processes/server-process.js';
import programs from '../processes/server-programs.cjs';
import { sharedServer } from './shared-server.js';

export interface MariaDbServerOptions {
  /** Further arguments of `mariadbd`, such as `['--max-connections=20']`. */
  readonly args?: readonly string[];
}

/** Writes reach the system before they are answered, so that a killed server has them; a lost machine would not. */
const QUICK = [
  '--innodb-flush-log-at-trx-commit=2',
  '--innodb-flush-method=nosync',
  '--innodb-buffer-pool-size=32M',
  '--innodb-log-file-size=8M',
];
const LOCAL = ['--bind-address=127.0.0.1', '--skip-name-resolve'];

/** A real MariaDB of its own: user `root`, no password, database `holdfast`. `restart()` keeps its data. */
export class MariaDbServer extends ServerProcess {
  protected readonly name = 'mariadb';
  readonly #args: readonly string[];

  static start({ args = [] }: MariaDbServerOptions = {}): Promise<MariaDbServer> {
    return startOnFreePort((port) => new MariaDbServer(port, args));
  }

  /** The one of this Jest worker, empty: for specs that neither break nor configure it. */
  static shared(): Promise<MariaDbServer> {
    return sharedServer('mariadb');
  }

  private constructor(port: number, args: readonly string[]) {
    super(port, true);
    this.#args = args;
  }

  get url(): string {
    return this.urlAt(this.port);
  }

  /** The same server through another port, such as a proxy's. */
  urlAt(port: number): string {
    return `mysql://root@127.0.0.1:${port}/holdfast`;
  }

  override async clear(): Promise<void> {
    const connection = await createConnection(this.url);
    try {
      await connection.query('DROP DATABASE holdfast');
      await connection.query('CREATE DATABASE holdfast');
    } finally {
      await connection.end();
    }
  }

  protected override async prepare(directory: string): Promise<void> {
    const account = accountFor('mysql');
    await giveTo(directory, account);
    const access = ['--auth-root-authentication-method=normal', '--skip-test-db'];
    await promisify(execFile)(needed(programs.mariadbInstall(), 'MariaDB'), [
      '--no-defaults',
      `--datadir=${join(directory, 'data')}`,
      `--tmpdir=${directory}`, // those of servers that are made at once meet in the common one
      ...access,
      ...(account ? ['--user=mysql'] : []),
    ]);
    const file = join(directory, 'init.sql');
    await writeFile(file, 'CREATE DATABASE IF NOT EXISTS holdfast;\n');
  }

  /** A server that changed its account by itself would not end with this process. */
  protected commandLine(directory: string): ServerCommand {
    const files = [
      `--datadir=${join(directory, 'data')}`,
      `--tmpdir=${directory}`,
      `--socket=${join(directory, 'socket')}`,
      `--pid-file=${join(directory, 'pid')}`,
      `--init-file=${join(directory, 'init.sql')}`,
    ];
    return {
      file: needed(programs.mariadb(), 'MariaDB'),
      args: ['--no-defaults', `--port=${this.port}`, ...files, ...LOCAL, ...QUICK, ...this.#args],
      options: { ...accountFor('mysql') },
    };
  }

  protected isReady(): boolean {
    return this.log.includes('ready for connections');
  }
}
