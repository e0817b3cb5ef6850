import { randomUUID } from 'node:crypto';
import type { AcquireRequest } from 'nest-holdfast';
import { FakeClock } from 'nest-holdfast/testing';
import { ZooKeeperLockStore, type ZooKeeperLockStoreOptions } from 'nest-holdfast/zookeeper';
import { type ServerCommand, startOnFreePort } from '../../support/processes/server-process.js';
import { TcpProxy } from '../../support/processes/tcp-proxy.js';
import { ZooKeeperServer } from '../../support/servers/zookeeper-server.js';
import { until } from '../../support/until.js';
import { ZooKeeperConsole } from './client/console.js';
import { ephemeralNodes } from './nodes/content.js';

class TidyServer extends ZooKeeperServer {
  protected override commandLine(directory: string): ServerCommand {
    const { file, args } = super.commandLine(directory);
    return { file, args: ['-Dznode.container.checkIntervalMs=200', ...args] };
  }
}

/** A server, a network in front of it that may break, and stores that each stand for a process and close with them. */
export class ZooKeeperStores implements AsyncDisposable {
  readonly server: ZooKeeperServer;
  readonly proxy: TcpProxy;
  readonly #stores: ZooKeeperLockStore[] = [];

  static async start(): Promise<ZooKeeperStores> {
    return ZooKeeperStores.#on(await ZooKeeperServer.start());
  }

  /** On the server of this Jest worker, empty. */
  static async shared(): Promise<ZooKeeperStores> {
    return ZooKeeperStores.#on(await ZooKeeperServer.shared());
  }

  /** With a server that looks for empty containers five times a second, and not once a minute. */
  static async startTidy(): Promise<ZooKeeperStores> {
    return ZooKeeperStores.#on(await startOnFreePort((port) => new TidyServer(port, {})));
  }

  static async #on(server: ZooKeeperServer): Promise<ZooKeeperStores> {
    return new ZooKeeperStores(server, await TcpProxy.start(server.port));
  }

  private constructor(server: ZooKeeperServer, proxy: TcpProxy) {
    this.server = server;
    this.proxy = proxy;
  }

  open(options: ZooKeeperLockStoreOptions = {}, servers = this.server.url): ZooKeeperLockStore {
    const store = new ZooKeeperLockStore(servers, options);
    this.#stores.push(store);
    return store;
  }

  /** One whose connection goes through `proxy`. */
  openRemote(options: ZooKeeperLockStoreOptions = {}): ZooKeeperLockStore {
    return this.open(options, `127.0.0.1:${this.proxy.port}`);
  }

  /** One by whose clock no lock is held for so long that its own node is watched: for tests that count watches. */
  openTimeless(): ZooKeeperLockStore {
    return this.open({ clock: new FakeClock() });
  }

  /** Names of the nodes in the line of a key, first one first. */
  async line(key: string, root = '/holdfast'): Promise<string[]> {
    const folder = `${root}/${encodeURIComponent(key)}/`;
    const all = await ephemeralNodes(this.server);
    const names = all.filter((path) => path.startsWith(folder)).map((path) => path.slice(folder.length)); // prettier-ignore
    return names.toSorted((one, other) => numberOf(one) - numberOf(other));
  }

  /** Resolves when so many stand in line for a key. */
  async standing(key: string, count: number): Promise<void> {
    await until(async () => (await this.line(key)).length === count, {
      what: `${count} to stand in line for ${key}`,
    });
  }

  /** Deletes a node, as an operator at a console would. */
  async remove(key: string, name: string): Promise<void> {
    await using console = new ZooKeeperConsole(this.server.url);
    await console.remove(`/holdfast/${encodeURIComponent(key)}/${name}`);
  }

  /** One number that the server counts. */
  async metric(name: string): Promise<number> {
    const lines = (await this.server.word('mntr')).split('\n');
    return Number(lines.find((line) => line.startsWith(`zk_${name}\t`))?.split('\t')[1]);
  }

  /** Mends the server and the network, and closes the stores. */
  async closeAll(): Promise<void> {
    this.server.resume();
    this.proxy.pass();
    await this.proxy.accept();
    await Promise.all(this.#stores.splice(0).map((store) => store.close()));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.closeAll();
    await this.proxy.stop();
    await this.server.stop();
  }
}

export function aRequest(key: string, permits?: number): AcquireRequest {
  return { key, keys: [key], ttl: 30_000, token: randomUUID(), holder: 'host:1:2', permits };
}

/** For waits that the test does not end. */
export function noEnd(): AbortSignal {
  return new AbortController().signal;
}

function numberOf(name: string): number {
  return Number(/-(-?\d+)$/.exec(name)?.[1]);
}
