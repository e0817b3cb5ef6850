import { Redis } from 'ioredis';
import { freePort } from '../processes/free-port.js';
import {
  type ServerCommand,
  ServerProcess,
  needed,
  startOnFreePort,
} from '../processes/server-process.js';
import programs from '../processes/server-programs.cjs';
import { sharedServer } from './shared-server.js';

export interface RedisServerOptions {
  /** Further arguments of `redis-server`, such as `['--maxmemory', '1mb']`. */
  readonly args?: readonly string[];
  /** Chooses the port of each attempt to start. @default a free loopback port */
  readonly choosePort?: () => Promise<number>;
  /** Changes the command that starts it: `withClock('+5s')`. */
  readonly wrap?: (command: ServerCommand) => ServerCommand;
}

const BASE_ARGS = ['--bind', '127.0.0.1', '--save', '', '--appendonly', 'no'];
const REPLICATE_AT_ONCE = ['--repl-diskless-sync-delay', '0'];

/** A real `redis-server` of its own, without persistence: after `restart()` it is empty. */
export class RedisServer extends ServerProcess {
  protected readonly name = 'redis';
  readonly #args: readonly string[];
  readonly #wrap: (command: ServerCommand) => ServerCommand;

  static start({
    args = [],
    choosePort = freePort,
    wrap = (command) => command,
  }: RedisServerOptions = {}) {
    return startOnFreePort((port) => new RedisServer(port, args, wrap), choosePort);
  }

  /** The one of this Jest worker, empty: for specs that neither break nor configure it. */
  static shared(): Promise<RedisServer> {
    return sharedServer('redis');
  }

  private constructor(
    port: number,
    args: readonly string[],
    wrap: (command: ServerCommand) => ServerCommand,
  ) {
    super(port, false);
    this.#args = args;
    this.#wrap = wrap;
  }

  get url(): string {
    return `redis://127.0.0.1:${this.port}`;
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

  override async clear(): Promise<void> {
    await this.command('FLUSHALL');
    await this.command('SCRIPT', 'FLUSH');
    await this.command('CONFIG', 'RESETSTAT');
  }

  protected commandLine(directory: string): ServerCommand {
    const own = ['--port', String(this.port), '--dir', directory];
    return this.#wrap({
      file: needed(programs.redis(), 'redis-server'),
      args: [...own, ...BASE_ARGS, ...REPLICATE_AT_ONCE, ...this.#args],
    });
  }

  protected isReady(): boolean {
    return this.log.includes('Ready to accept connections');
  }
}
