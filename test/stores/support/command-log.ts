import type { Redis } from 'ioredis';
import { monitorOf } from '../../support/processes/monitor.js';
import { until } from '../../support/until.js';
import { OwnClient, disconnect } from '../redis/locks.js';

/** Commands that a store sends once a second, busy or not. */
const BY_THE_CLOCK = ['info', 'time'];

/** The commands of one client, as its server saw them: without those of scripts, and without those sent by the clock. */
export class CommandLog implements AsyncDisposable {
  readonly #source: string;
  readonly #marks: OwnClient;
  readonly #monitor: Redis;
  readonly #seen: { readonly source: string; readonly words: readonly string[] }[] = [];

  static async of(client: Redis, url: string): Promise<CommandLog> {
    await client.ping();
    const { localAddress, localPort } = client.stream;
    const marks = new OwnClient(url);
    return new CommandLog(`${localAddress}:${localPort}`, marks, await monitorOf(marks.redis));
  }

  private constructor(source: string, marks: OwnClient, monitor: Redis) {
    this.#source = source;
    this.#marks = marks;
    this.#monitor = monitor;
    monitor.on('monitor', (_, words: string[], from: string) => {
      this.#seen.push({ source: from, words });
    });
  }

  /** The names of the commands since the last call, in order. */
  async commands(): Promise<string[]> {
    const mark = String(performance.now());
    await this.#marks.redis.echo(mark);
    await until(() => this.#seen.some(({ words }) => words[1] === mark));
    const own = this.#seen.splice(0).filter(({ source }) => source === this.#source);
    const names = own.map(({ words }) => words[0]!.toLowerCase());
    return names.filter((name) => !BY_THE_CLOCK.includes(name));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    disconnect(this.#monitor);
    await this.#marks[Symbol.asyncDispose]();
  }
}
