import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { until } from '../../../support/until.js';
import { RedisServer } from '../../../support/servers/redis-server.js';

const KEYS = 5_000;
const FILL = `for i = 1, ${KEYS} do redis.call('set', 'filler:' .. i, string.rep('x', 100)) end`;
/** The server answers `LOADING` in between, and needs minutes. */
const SLOWLY = [
  ['--key-load-delay', '20000'],
  ['--loading-process-events-interval-bytes', '1024'],
  ['--rdbcompression', 'no'],
].flat();

/** A Redis that saves its data, and loads them slowly when it is started again. */
export class LoadingRedis implements AsyncDisposable {
  static async start(args: readonly string[] = []): Promise<LoadingRedis> {
    const directory = await mkdtemp(join(tmpdir(), 'holdfast-loading-'));
    const server = await RedisServer.start({ args: ['--dir', directory, ...SLOWLY, ...args] });
    return new LoadingRedis(server, directory);
  }

  /** Our own questions to the process that runs. */
  #asked = 0;

  private constructor(
    readonly server: RedisServer,
    readonly directory: string,
  ) {}

  /** It crashes, and loads what it had saved right before, until `finishLoading`. */
  async beginLoading(): Promise<void> {
    await this.server.command('EVAL', FILL, 0);
    await this.server.command('SAVE');
    await this.server.kill();
    await this.server.spawn();
    this.#asked = 0;
    await until(() => this.isLoading(), { within: 60_000, what: 'the server to load its data' });
  }

  async isLoading(): Promise<boolean> {
    return (await this.#info('persistence')).includes('loading:1');
  }

  async finishLoading(): Promise<void> {
    await this.#meanwhile('CONFIG', 'SET', 'key-load-delay', 0);
    await until(async () => !(await this.isLoading()), { within: 60_000 });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.server.remove();
    await rm(this.directory, { recursive: true, force: true, maxRetries: 5 });
  }

  /** How often another client has asked whether it loads, since it was started. */
  async questions(): Promise<number> {
    const stats = await this.#info('commandstats');
    return Number(/^cmdstat_info:calls=(\d+)/m.exec(stats)?.[1] ?? 0) - this.#asked + 1;
  }

  async #info(section: string): Promise<string> {
    const info = String(await this.#meanwhile('INFO', section));
    this.#asked++;
    return info;
  }

  /** On a connection that does not wait for the end of the loading. */
  async #meanwhile(name: string, ...args: readonly (string | number)[]): Promise<unknown> {
    const client = new Redis({
      port: this.server.port,
      enableReadyCheck: false,
      lazyConnect: true,
      retryStrategy: () => null,
    });
    client.on('error', () => {}); // the rejection of `connect` or `call` carries it
    try {
      await client.connect();
      return await client.call(name, ...args);
    } finally {
      if (client.status !== 'end') client.disconnect();
    }
  }
}
