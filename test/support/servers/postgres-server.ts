import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { Client } from 'pg';
import {
  type ServerCommand,
  ServerProcess,
  needed,
  startOnFreePort,
} from '../processes/server-process.js';
import { removeSegment } from '../leaks/shared-memory.cjs';
import { type Account, accountFor, giveTo } from '../processes/server-account.js';
import programs from '../processes/server-programs.cjs';
import { sharedServer } from './shared-server.js';

export interface PostgresServerOptions {
  /** Further settings, such as `{ max_connections: 20 }`. */
  readonly settings?: Readonly<Record<string, string | number>>;
}

/** Writes reach the system before they are answered, so that a killed server has them; a lost machine would not. */
const SETTINGS = {
  listen_addresses: '127.0.0.1',
  unix_socket_directories: '',
  fsync: 'off',
  full_page_writes: 'off',
  dynamic_shared_memory_type: 'mmap', // in its folder, which goes where the server is killed
};

/** A real PostgreSQL of its own: user and database `postgres`, no password. `restart()` keeps its data. */
export class PostgresServer extends ServerProcess {
  protected readonly name = 'postgres';
  protected override readonly stopSignal = 'SIGINT'; // the fast shutdown
  readonly #account: Account | undefined = accountFor('postgres');
  readonly #settings: Readonly<Record<string, string | number>>;

  static start({ settings = {} }: PostgresServerOptions = {}): Promise<PostgresServer> {
    return startOnFreePort((port) => new PostgresServer(port, settings));
  }

  /** The one of this Jest worker, empty: for specs that neither break nor configure it. */
  static shared(): Promise<PostgresServer> {
    return sharedServer('postgres');
  }

  private constructor(port: number, settings: Readonly<Record<string, string | number>>) {
    super(port, true);
    this.#settings = { ...SETTINGS, ...settings };
  }

  get url(): string {
    return this.urlAt(this.port);
  }

  /** The same server through another port, such as a proxy's. */
  urlAt(port: number): string {
    return `postgresql://postgres@127.0.0.1:${port}/postgres`;
  }

  override async clear(): Promise<void> {
    const client = new Client({ connectionString: this.url });
    await client.connect();
    try {
      await client.query('DROP SCHEMA public CASCADE');
      await client.query('CREATE SCHEMA public');
    } finally {
      await client.end();
    }
  }

  protected override async prepare(directory: string): Promise<void> {
    await giveTo(directory, this.#account);
    const access = ['-U', 'postgres', '-A', 'trust'];
    const quick = ['-E', 'UTF8', '--locale=C', '--no-sync', '--no-instructions'];
    execFileSync(
      needed(programs.initdb(), 'PostgreSQL'),
      ['-D', join(directory, 'data'), ...access, ...quick],
      { ...this.#account, cwd: directory, stdio: 'pipe' },
    );
  }

  protected commandLine(directory: string): ServerCommand {
    const settings = Object.entries(this.#settings);
    const where = ['-D', join(directory, 'data'), '-p', String(this.port)];
    return {
      file: needed(programs.postgres(), 'PostgreSQL'),
      args: where.concat(settings.flatMap(([name, value]) => ['-c', `${name}=${value}`])),
      options: { ...this.#account },
    };
  }

  protected isReady(): boolean {
    return this.log.includes('ready to accept connections');
  }

  protected override discard(directory: string): void {
    removeSegment(directory);
  }

  /** Each connection has a process of its own, in a session of its own. */
  protected override processesOf(pid: number): readonly number[] {
    process.kill(pid, 'SIGSTOP'); // else it could start another one meanwhile
    const lines = execFileSync('ps', ['-A', '-o', 'pid=,ppid='], { encoding: 'utf8' }).split('\n');
    const rows = lines.map((line) => line.trim().split(/\s+/).map(Number));
    const children = rows.flatMap(([child, parent]) => (parent === pid ? [child!] : []));
    return [...children, pid];
  }
}
