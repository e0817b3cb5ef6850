import type { Redis } from 'ioredis';
import { type LockNodeEvent, LockService, RedisLockStore } from 'nest-holdfast';
import type { LockServiceOptions } from 'nest-holdfast';
import { RedlockStore } from 'nest-holdfast/redlock';
import type { RedlockStoreOptions } from 'nest-holdfast/redlock';
import { nothingLeft } from '../../../support/faults/left-behind.js';
import { RedisServer } from '../../../support/servers/redis-server.js';
import { TcpProxy } from '../../../support/processes/tcp-proxy.js';
import { until } from '../../../support/until.js';
import { OwnClient } from '../../redis/locks.js';

/** For tests that are not about timeouts: a busy machine is no hung node. */
export const PATIENT = 1_000;

/** Redis servers on loopback, which a test breaks. */
export class RedlockNodes implements AsyncDisposable {
  readonly servers: readonly RedisServer[];

  static async start(count = 5): Promise<RedlockNodes> {
    const starts = Array.from({ length: count }, () => RedisServer.start());
    return new RedlockNodes(await Promise.all(starts));
  }

  private constructor(servers: readonly RedisServer[]) {
    this.servers = servers;
  }

  /** Resolves once nothing is left on the nodes, all of them unless told otherwise, but expiring counters. */
  async nothingLeft(servers = this.servers): Promise<void> {
    await Promise.all(servers.map((server) => nothingLeft(server)));
  }

  /** The indices of the nodes that have the key. */
  async having(key: string): Promise<number[]> {
    const answers = await Promise.all(
      this.servers.map((server) => server.command('EXISTS', `lock:${key}`)),
    );
    return answers.flatMap((answer, index) => (answer === 1 ? index : []));
  }

  /** Resolves once every node has surely been up for so long: a server's age is the difference of two whole seconds. */
  async upFor(seconds: number): Promise<void> {
    const isOld = async (server: RedisServer) => {
      const info = String(await server.command('INFO', 'server'));
      return Number(/uptime_in_seconds:(\d+)/.exec(info)![1]) > seconds;
    };
    for (const server of this.servers) {
      await until(() => isOld(server), { within: (seconds + 5) * 1_000, every: 50 });
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.servers.map((server) => server.kill()));
  }
}

type ProcessOptions = RedlockStoreOptions & { readonly service?: LockServiceOptions };

/** One process of an application: a way of its own to each node, clients, a store and a service. */
export class RedlockProcess implements AsyncDisposable {
  readonly proxies: readonly TcpProxy[];
  readonly clients: readonly Redis[];
  readonly store: RedlockStore;
  readonly locks: LockService;
  readonly events: LockNodeEvent[] = [];
  readonly #owned: readonly OwnClient[];

  /** Patient, and without quarantine, unless told otherwise. Resolves once it is connected. */
  static async start(nodes: RedlockNodes, options: ProcessOptions = {}): Promise<RedlockProcess> {
    const proxies = await Promise.all(nodes.servers.map(({ port }) => TcpProxy.start(port)));
    const own = new RedlockProcess(proxies, options);
    await until(() => own.clients.every(({ status }) => status === 'ready'));
    return own;
  }

  private constructor(proxies: readonly TcpProxy[], { service, ...options }: ProcessOptions) {
    this.proxies = proxies;
    this.#owned = proxies.map(({ url }) => new OwnClient(url));
    this.clients = this.#owned.map(({ redis }) => redis);
    const stores = this.clients.map((client) => new RedisLockStore(client));
    this.store = new RedlockStore(stores, { nodeTimeout: PATIENT, quarantine: false, ...options });
    this.locks = new LockService(this.store, service);
    this.locks.events.on('node', (event) => this.events.push(event));
  }

  /** The name of a node, as in errors and events. */
  name(index: number): string {
    return `127.0.0.1:${this.proxies[index]!.port}`;
  }

  /** Resolves once every node has answered what was sent to it before. */
  async answered(): Promise<void> {
    await Promise.all(this.clients.map((client) => client.ping()));
  }

  /** The notices of a node, in order. */
  told(index: number): string[] {
    return this.events.filter(({ node }) => node === this.name(index)).map(({ state }) => state);
  }

  /** Resolves once a node was told to be in this state last. */
  async isTold(index: number, state: LockNodeEvent['state']): Promise<void> {
    await until(() => this.told(index).at(-1) === state, {
      what: `node ${index} to be ${state}`,
      within: 30_000,
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.locks.close();
    for (const client of this.#owned) await client[Symbol.asyncDispose]();
    await Promise.all(this.proxies.map((proxy) => proxy.stop()));
  }
}
