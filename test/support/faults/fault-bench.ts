import type { Lock } from 'nest-holdfast';
import { TcpProxy } from '../processes/tcp-proxy.js';
import { until } from '../until.js';
import { Contender, STORE_TIMEOUT, type OpenedStore } from './contender.js';
import { inTime } from './in-time.js';

/** A server, or several that are one service. Those of `test/support` have this shape. */
export interface FaultyServer {
  kill(): Promise<void>;
  pause(): void;
  resume(): void;
  restart(): Promise<void>;
  stop(): Promise<void>;
}

export interface FaultyStore<Server extends FaultyServer = FaultyServer> {
  readonly startServer: () => Promise<Server>;
  /** Where its clients connect. */
  readonly portsOf: (server: Server) => readonly number[];
  /**
   * Opens a store through these ports, each of which stands for one of `portsOf`. Called while the server is well, with `life`
   * or `electionLife`.
   */
  readonly openStore: (
    ports: readonly number[],
    life: number,
  ) => OpenedStore | Promise<OpenedStore>;
  /**
   * Milliseconds after which the key of a dead process is free: the ttl here, or the session timeout that `openStore` sets. With
   * four seconds a lock outlives a machine that stands still for two.
   */
  readonly life: number;
  /** Milliseconds by which the server may be late with that. @default `LATENESS` */
  readonly lateness?: number | undefined;
  /** Whether a server that was killed has its data again. @default true */
  readonly keepsData?: boolean;
  /** Whether a wait may end with `LOCK_STORE_FAILED` when the server crashes. @default false */
  readonly refusesWaiters?: boolean;
  /** The leftovers on the server, such as rows or nodes: none may be there once no caller holds or waits. */
  readonly leftovers?: (server: Server) => Promise<readonly unknown[]>;
  /** The member that leads, of an ensemble. */
  readonly leader?: (server: Server) => Promise<FaultyServer>;
  /** As `life`, and longer than an election takes: a lock then survives one. Missing: it may be lost. */
  readonly electionLife?: number | undefined;
}

/** Milliseconds by which a server may be late that frees the key of a dead process. */
export const LATENESS = 6_000;
/** Longer than any call of a process takes that ends as it should. */
const CLOSE_WITHIN = 1.5 * STORE_TIMEOUT;

/** A server whose faults a test makes, the processes that use it, and what each of them holds. */
export class FaultBench<Server extends FaultyServer> {
  readonly server: Server;
  readonly #store: FaultyStore<Server>;
  readonly #proxies: readonly TcpProxy[];
  readonly #contenders = new Set<Contender>();
  #granted: Lock[] = [];

  static async start<Server extends FaultyServer>(
    store: FaultyStore<Server>,
  ): Promise<FaultBench<Server>> {
    const server = await store.startServer();
    const proxies = await Promise.all(store.portsOf(server).map((port) => TcpProxy.start(port)));
    return new FaultBench(store, server, proxies);
  }

  private constructor(store: FaultyStore<Server>, server: Server, proxies: readonly TcpProxy[]) {
    this.#store = store;
    this.server = server;
    this.#proxies = proxies;
  }

  /** A process that talks to the server itself. Its client is warm. */
  contender(life = this.#store.life): Promise<Contender> {
    return this.#open(this.#store.portsOf(this.server), life);
  }

  /** A process whose connections `cut`, `cutOff` and `heal` are about. */
  remoteContender(): Promise<Contender> {
    return this.#open(
      this.#proxies.map(({ port }) => port),
      this.#store.life,
    );
  }

  /** Ends every connection of the remote ones, which may connect again at once. */
  cut(): void {
    for (const proxy of this.#proxies) proxy.cutAll();
  }

  /** Ends every connection of the remote ones, until `heal`. */
  cutOff(): void {
    for (const proxy of this.#proxies) proxy.refuse();
    this.cut();
  }

  async heal(): Promise<void> {
    await Promise.all(this.#proxies.map((proxy) => proxy.accept()));
  }

  async restart(): Promise<void> {
    await this.server.restart();
    if (this.#store.keepsData === false) this.#granted = []; // it cannot know the holders
  }

  /** Ends all processes. Resolves when a new one could take each key, and nothing else is left in the store. */
  async nothingLeft(): Promise<void> {
    const keys = new Set(this.#granted.map(({ key }) => key));
    await inTime(CLOSE_WITHIN, this.#closeAll());
    const { life, lateness = LATENESS, leftovers } = this.#store;
    const late = await this.contender();
    await Promise.all(
      [...keys].map((key) =>
        late.locks.withLock(key, { waitTimeout: life + lateness }, async () => {}),
      ),
    );
    await this.#closeAll();
    await until(async () => ((await leftovers?.(this.server)) ?? []).length === 0, {
      within: life + lateness,
      every: 50,
      what: 'nothing to be left in the store',
    });
  }

  /** The server is well again, whatever has failed. */
  async tidyUp(): Promise<void> {
    this.server.resume();
    await this.heal();
    await inTime(CLOSE_WITHIN, this.#closeAll());
    this.#granted = [];
  }

  async stop(): Promise<void> {
    await Promise.all(this.#proxies.map((proxy) => proxy.stop()));
    await this.server.stop();
  }

  async #open(ports: readonly number[], life: number): Promise<Contender> {
    const opened = await this.#store.openStore(ports, life);
    const contender = new Contender(opened, life, (lock) => this.#check(lock));
    this.#contenders.add(contender);
    await contender.locks.withLock('warm-up', async () => {});
    return contender;
  }

  async #closeAll(): Promise<void> {
    await Promise.all([...this.#contenders].map((contender) => contender.close()));
    this.#contenders.clear();
  }

  #check(lock: Lock): void {
    for (const before of this.#granted) {
      if (before.key !== lock.key) continue;
      if (before.isHeld) throw new Error(`two hold ${lock.key}`);
      if (before.fencingToken >= lock.fencingToken)
        throw new Error(`a token of ${lock.key} did not grow`);
    }
    this.#granted.push(lock);
  }
}
