import { RedisServer } from './redis-server.js';
import { SentinelProcess } from './sentinel-process.js';
import { until } from '../until.js';

const NAME = 'holdfast';
/** A failover takes about two seconds, and more on a busy machine. */
const PATIENCE = { within: 30_000, every: 20 };

export interface RedisSentinelOptions {
  /** @default 2 */
  readonly replicas?: number;
  /** @default 3 */
  readonly sentinels?: number;
}

/** A master, its replicas, and the sentinels that watch them. All of them are removed at the end. */
export class RedisSentinel implements AsyncDisposable {
  /** Every server, whatever its role is now. */
  readonly servers: RedisServer[] = [];
  readonly #sentinels: SentinelProcess[] = [];
  #master!: RedisServer;

  static async start({ replicas = 2, sentinels = 3 }: RedisSentinelOptions = {}) {
    const setup = new RedisSentinel();
    try {
      setup.#master = await setup.#addServer();
      for (let index = 0; index < replicas; index += 1) await setup.#follow(await setup.#addServer()); // prettier-ignore
      const quorum = Math.floor(sentinels / 2) + 1;
      const started = Array.from({ length: sentinels }, () =>
        SentinelProcess.start(NAME, setup.#master.port, quorum),
      );
      setup.#sentinels.push(...(await Promise.all(started)));
      await setup.settled();
    } catch (error) {
      await setup.stop();
      throw error;
    }
    return setup;
  }

  private constructor() {}

  /** The one that was promoted last. */
  get master(): RedisServer {
    return this.#master;
  }

  get replicas(): RedisServer[] {
    return this.servers.filter((server) => server !== this.#master);
  }

  /** For `new Redis(…)`. */
  get client(): { sentinels: { host: string; port: number }[]; name: string } {
    const sentinels = this.#sentinels.map(({ port }) => ({ host: '127.0.0.1', port }));
    return { sentinels, name: NAME };
  }

  /** For `createSentinel(…)` of node-redis. */
  get nodeRedis(): { sentinelRootNodes: { host: string; port: number }[]; name: string } {
    const { sentinels, name } = this.client;
    return { sentinelRootNodes: sentinels, name };
  }

  /**
   * Resolves once each sentinel knows all others, every server answers it, and each replica follows the master. That is another
   * one where the sentinels of a busy machine took the last one for dead.
   */
  async settled(): Promise<void> {
    await until(
      async () => {
        this.#master = (await this.#named()) ?? this.#master;
        for (const sentinel of this.#sentinels) await this.#checkView(sentinel);
        return true;
      },
      { ...PATIENCE, within: 60_000, what: 'the sentinels to agree on a sound setup' },
    );
  }

  /** The master crashes. Resolves when another one was promoted. */
  async crash(): Promise<void> {
    await this.#master.kill();
    await this.promoted();
  }

  /** Lets the master and a replica change roles, without a crash. Sentinels tell the old master ten seconds later. */
  async switchOver(): Promise<void> {
    const before = this.#master;
    await this.#sentinels[0]!.failover();
    await this.promoted();
    await this.#follow(before);
    await before.command('CLIENT', 'KILL', 'TYPE', 'normal');
  }

  /**
   * From now on no replica hears of anything, until `hear`: they are stopped, and their links are cut, for what is on its
   * way to a stopped process still reaches it. Sentinels mind after a second and a half.
   */
  async deafen(replicas: readonly RedisServer[] = this.replicas): Promise<void> {
    for (const replica of replicas) replica.pause();
    await this.#master.command('CLIENT', 'KILL', 'TYPE', 'replica');
  }

  hear(): void {
    for (const server of this.servers) server.resume();
  }

  /** Resolves when all sentinels name another master than before, and that is one. */
  async promoted(): Promise<void> {
    const before = this.#master.port;
    await until(
      async () => {
        const next = await this.#named();
        if (!next || next.port === before) return false;
        this.#master = next;
        return (await roleOf(next)) === 'master';
      },
      { ...PATIENCE, what: 'a replica to be promoted' },
    );
  }

  /** Servers that had crashed come back empty, as replicas. Resolves when all is as it should be. */
  async rejoin(...servers: readonly RedisServer[]): Promise<void> {
    for (const server of servers) {
      await server.restart();
      await this.#follow(server);
    }
    await this.settled();
  }

  async stop(): Promise<void> {
    await Promise.all(this.#sentinels.map((sentinel) => sentinel.stop()));
    await Promise.all(this.servers.map((server) => server.kill()));
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
  }

  async #addServer(): Promise<RedisServer> {
    const server = await RedisServer.start();
    this.servers.push(server);
    return server;
  }

  async #follow(server: RedisServer): Promise<void> {
    await server.command('REPLICAOF', '127.0.0.1', this.#master.port);
    await until(() => isInStep(server, this.#master), { ...PATIENCE, what: 'a replica in step' });
  }

  /** The master that all sentinels name. Missing: they name several. */
  async #named(): Promise<RedisServer | undefined> {
    const ports = await Promise.all(this.#sentinels.map((sentinel) => sentinel.masterPort()));
    const [first] = ports;
    return ports.every((port) => port === first)
      ? this.servers.find(({ port }) => port === first)
      : undefined;
  }

  /** Throws what is not yet as it should be. */
  async #checkView(sentinel: SentinelProcess): Promise<void> {
    const port = String(this.#master.port);
    const { flags, ...master } = await sentinel.master();
    if (flags !== 'master' || master['port'] !== port) throw new Error(`a master is ${flags}`);
    if (master['num-other-sentinels'] !== String(this.#sentinels.length - 1))
      throw new Error('sentinels are missing');
    for (const replica of this.replicas) {
      const views = await sentinel.replicas();
      const view = views.find((each) => each['port'] === String(replica.port));
      if (view?.['flags'] !== 'slave') throw new Error(`a replica is ${view?.['flags']}`);
      if (!(await isInStep(replica, this.#master))) throw new Error('a replica is behind');
    }
  }
}

async function roleOf(server: RedisServer): Promise<string> {
  return String(((await server.command('ROLE')) as unknown[])[0]);
}

async function isInStep(server: RedisServer, master: RedisServer): Promise<boolean> {
  const [role, , port, state] = (await server.command('ROLE')) as unknown[];
  return role === 'slave' && Number(port) === master.port && state === 'connected';
}
