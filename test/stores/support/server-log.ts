import { Redis } from 'ioredis';
import type { RedisServer } from '../../support/servers/redis-server.js';
import { monitorOf } from '../../support/processes/monitor.js';
import { until } from '../../support/until.js';
import { disconnect } from '../redis/locks.js';

/** The commands that a server runs, those of scripts included. */
export class ServerLog implements AsyncDisposable {
  readonly #server: RedisServer;
  readonly #monitor: Redis;
  readonly #seen: string[][] = [];

  static async of(server: RedisServer): Promise<ServerLog> {
    const client = new Redis(server.url);
    const log = new ServerLog(server, await monitorOf(client));
    disconnect(client);
    return log;
  }

  private constructor(server: RedisServer, monitor: Redis) {
    this.#server = server;
    this.#monitor = monitor;
    monitor.on('monitor', (_, words: string[]) => this.#seen.push(words));
  }

  /** The commands of that name since the last call of this method. */
  async take(name: string): Promise<string[][]> {
    const mark = String(performance.now());
    await this.#server.command('ECHO', mark);
    await until(() => this.#seen.some(([, word]) => word === mark));
    return this.#seen.splice(0).filter(([word]) => word!.toLowerCase() === name);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    disconnect(this.#monitor);
  }
}
