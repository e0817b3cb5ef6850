import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { freePort } from './free-port.js';
import { until } from './until.js';

export interface RedisServerOptions {
  /** Further arguments of `redis-server`, such as `['--maxmemory', '1mb']`. */
  readonly args?: readonly string[];
  /** Chooses the port of each attempt to start. @default a free loopback port */
  readonly choosePort?: () => Promise<number>;
}

const BASE_ARGS = ['--bind', '127.0.0.1', '--save', '', '--appendonly', 'no'];
const REPLICATE_AT_ONCE = ['--repl-diskless-sync-delay', '0'];
const ATTEMPTS = 3;

/** A real `redis-server` of its own, without persistence, on a loopback port. */
export class RedisServer implements AsyncDisposable {
  readonly #args: readonly string[];
  #process: ChildProcess | undefined;
  #directory: string | undefined;
  #log = '';

  static async start(options: RedisServerOptions = {}): Promise<RedisServer> {
    const { args = [], choosePort = freePort } = options;
    for (let attempt = 1; ; attempt += 1) {
      const server = new RedisServer(await choosePort(), args);
      try {
        await server.#spawn();
        return server;
      } catch (error) {
        await server.kill();
        const lostTheRace = server.#log.includes('Address already in use');
        if (!lostTheRace || attempt === ATTEMPTS) throw error;
      }
    }
  }

  private constructor(
    readonly port: number,
    args: readonly string[],
  ) {
    this.#args = args;
  }

  get url(): string {
    return `redis://127.0.0.1:${this.port}`;
  }

  /** `undefined` while the server is stopped. */
  get pid(): number | undefined {
    return this.#process?.pid;
  }

  /** Ends the server in its orderly way. Safe to call twice, and on a paused server. */
  stop(): Promise<void> {
    return this.#end('SIGTERM');
  }

  /** Ends the server as a crash would. */
  kill(): Promise<void> {
    return this.#end('SIGKILL');
  }

  /** The server keeps its connections and accepts new ones, and answers nothing. */
  pause(): void {
    this.#process?.kill('SIGSTOP');
  }

  resume(): void {
    this.#process?.kill('SIGCONT');
  }

  /** Crashes the server if it still runs, and starts it with no data on the same port. */
  async restart(): Promise<void> {
    await this.kill();
    await this.#spawn();
  }

  /** Sends one command on a connection of its own, for what a test has to ask or tell the server itself. */
  async command(name: string, ...args: readonly (string | number)[]): Promise<unknown> {
    const client = new Redis({ port: this.port, lazyConnect: true, retryStrategy: () => null });
    client.on('error', () => {}); // the rejection of `connect` or `call` carries it
    try {
      await client.connect();
      return await client.call(name, ...args);
    } finally {
      if (client.status !== 'end') client.disconnect(); // on an ended client it would leave a timer for two seconds
    }
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.kill();
  }

  async #spawn(): Promise<void> {
    this.#directory = await mkdtemp(join(tmpdir(), 'holdfast-redis-'));
    const own = ['--port', String(this.port), '--dir', this.#directory];
    const child = spawn(
      process.env['REDIS_SERVER'] ?? 'redis-server',
      [...own, ...BASE_ARGS, ...REPLICATE_AT_ONCE, ...this.#args],
      { stdio: ['ignore', 'pipe', 'pipe'] },
    );
    this.#process = child;
    this.#log = '';
    child.stdout.on('data', (chunk) => (this.#log += String(chunk)));
    child.stderr.on('data', (chunk) => (this.#log += String(chunk)));
    await once(child, 'spawn');
    await until(() => hasExited(child) || this.#log.includes('Ready to accept connections'), {
      within: 15_000,
      what: 'redis-server to be ready',
    });
    if (hasExited(child)) throw new Error(`redis-server ended at once:\n${this.#log}`);
  }

  async #end(signal: 'SIGTERM' | 'SIGKILL'): Promise<void> {
    const child = this.#process;
    this.#process = undefined;
    if (child && !hasExited(child)) {
      const exited = once(child, 'exit');
      child.kill(signal);
      child.kill('SIGCONT'); // a paused process would never see the SIGTERM
      await exited;
    }
    if (this.#directory) await rm(this.#directory, { recursive: true, force: true });
    this.#directory = undefined;
  }
}

function hasExited(child: ChildProcess): boolean {
  return child.exitCode !== null || child.signalCode !== null;
}
