import type { Clock } from '../../../core/async/clock.js';
import { cut, repair, retire } from './client-repairs.js';
import { Confirmations } from './confirmations.js';
import { contentOf, childrenOf, childrenReadingOf, readingOf, writtenBy } from './node-content.js';
import type { Children, NodeContent } from './node-content.js';
import { PendingCalls } from './pending-calls.js';
import type { Call } from './pending-calls.js';
import { Watches } from './watches.js';
import { checkNothing, checkPath, checkResults } from './zookeeper-answers.js';
import { Code, CreateMode } from './zookeeper-client.js';
import type { Done, Transaction, TransactionResult, ZooKeeperClient } from './zookeeper-client.js';
import { ConnectionLossError, isRefusal } from './zookeeper-errors.js';

/** Part of the session timeout, which is at least two ticks. The leader pings each half tick. */
const PING_WITHIN = 1 / 4;

/** Adds the changes of one path. */
export type Add = (all: Transaction, path: string) => Transaction;

export interface ConnectionEvents {
  connected(): void;
  disconnected(): void;
  /** The server has ended the session. */
  ended(why: string): void;
  /** The server has ended the session, and would end another one, too. */
  refused(why: string): void;
}

/** Promises over the callbacks of the client. Nothing is sent while it is not connected; no call outlives its connection. */
export class Connection {
  isConnected = false;
  /** Why it is not connected, if that is known. */
  failure: unknown;
  readonly calls: PendingCalls;
  readonly confirmations = new Confirmations();
  readonly watches: Watches;
  readonly #client: ZooKeeperClient;
  readonly #events: ConnectionEvents;

  constructor(client: ZooKeeperClient, clock: Clock, events: ConnectionEvents) {
    this.#client = client;
    this.#events = events;
    this.calls = new PendingCalls(clock, {
      expired: () => events.ended('it has expired'),
      written: (sentAt) => this.confirmations.answered(sentAt, this.sessionTimeout * PING_WITHIN),
    });
    this.watches = new Watches(client, (call) => this.#find(call));
    repair(client.connectionManager, (error) => (this.failure = error));
    client.on('connected', () => this.#connected());
    client.on('disconnected', () => this.#disconnected());
    client.on('expired', () => events.ended('it has expired'));
    client.on('authenticationFailed', () => events.refused('the server refused auth'));
  }

  /** Milliseconds, as negotiated with the server. */
  get sessionTimeout(): number {
    return this.#client.getSessionTimeout();
  }

  connect(): void {
    this.#client.connect();
  }

  /** Resolves with the path of the node, to which the server may have appended a number. */
  create(path: string, data: Buffer, acl: object[], mode: number): Promise<string> {
    const send = (done: Done<string>) => this.#client.create(path, data, acl, mode, done);
    return this.#make({ path, isWrite: true, check: checkPath(path), send });
  }

  /** Creates all or none. Resolves with their paths, in order. */
  async createAll(
    paths: readonly string[],
    data: Buffer,
    acl: object[],
    mode: number,
  ): Promise<string[]> {
    const call = this.#transaction(paths, (all, path) => all.create(path, data, acl, mode));
    const results = await this.#make(call);
    results.forEach((result, index) => checkPath(paths[index]!)(result.path));
    return results.map(({ path }) => path!);
  }

  /** Removes all or none. Resolves `false` when one is missing. */
  async removeAll(paths: readonly string[]): Promise<boolean> {
    const call = this.#transaction(paths, (all, path) => all.remove(path, -1));
    return (await this.#find(call)) !== undefined;
  }

  /** Resolves `false` when there is no such node. */
  async remove(path: string): Promise<boolean> {
    const send = (done: Done<true>) => this.#client.remove(path, (error) => done(error, true));
    return (await this.#find({ path, isWrite: true, check: checkNothing, send })) ?? false;
  }

  /** Writes to all or none. Resolves `false` when one is missing. */
  async writeAll(paths: readonly string[], data: Buffer): Promise<boolean> {
    const call = this.#transaction(paths, (all, path) => all.setData(path, data, -1));
    return (await this.#find(call)) !== undefined;
  }

  /** Writes to all and creates a node beside each, or does nothing. Resolves `false` when one is missing. */
  async markAll(
    paths: readonly string[],
    markOf: (path: string) => string,
    data: Buffer,
    acl: object[],
  ): Promise<boolean> {
    const mark = (all: Transaction, path: string) =>
      all.setData(path, data, -1).create(markOf(path), data, acl, CreateMode.ephemeral);
    return (await this.#find(this.#transaction(paths, mark, 2))) !== undefined;
  }

  /** Makes so many changes, all or none. Resolves `undefined` when a node is missing. */
  change(path: string, add: Add, count: number): Promise<readonly TransactionResult[] | undefined> {
    return this.#find(this.#transaction([path], add, count));
  }

  /** Writes to `parents` if all `nodes` are there. Resolves with the transaction's number, or `undefined` when one is missing. */
  async number(
    nodes: readonly string[],
    parents: ReadonlyMap<string, Buffer>,
  ): Promise<bigint | undefined> {
    const add = (all: Transaction, path: string) =>
      nodes.includes(path) ? all.check(path, -1) : all.setData(path, parents.get(path)!, -1);
    const results = await this.#find(this.#transaction([...nodes, ...parents.keys()], add));
    return results && writtenBy(results.at(-1)!);
  }

  /** A write that changes nothing. A later read is no older than it. Resolves `false` when a node is missing. */
  async check(paths: readonly string[]): Promise<boolean> {
    const call = this.#transaction(paths, (all, path) => all.check(path, -1));
    return (await this.#find(call)) !== undefined;
  }

  /** Resolves `undefined` when there is no such node. */
  async children(path: string): Promise<Children | undefined> {
    const raw = await this.#find(childrenReadingOf(this.#client, path));
    return raw && childrenOf(raw);
  }

  /** Resolves `undefined` when there is no such node. */
  async read(path: string): Promise<NodeContent | undefined> {
    const raw = await this.#find(readingOf(this.#client, path));
    return raw && contentOf(raw, this.#client.getSessionId());
  }

  /** Gives the server up: the client turns to the next one. */
  cut(): void {
    cut(this.#client.connectionManager);
  }

  /** Asks the server to end the session, if it can be reached. That ends the connection, too. */
  askToEnd(): void {
    if (this.isConnected) this.#client.close();
  }

  /** Ends the client for good. */
  retire(): void {
    retire(this.#client.connectionManager);
    this.#disconnected();
  }

  #connected(): void {
    this.isConnected = true;
    this.#events.connected();
  }

  #disconnected(): void {
    if (!this.isConnected) return;
    this.isConnected = false;
    this.calls.fail();
    this.watches.fail(new ConnectionLossError());
    this.#events.disconnected();
  }

  #transaction(
    paths: readonly string[],
    add: Add,
    perPath = 1,
  ): Call<readonly TransactionResult[]> {
    const transaction = paths.reduce(add, this.#client.transaction());
    const check = checkResults(paths.length * perPath);
    const send = (done: Done<readonly TransactionResult[]>) => transaction.commit(done);
    return { path: paths.join(' or '), isWrite: true, check, send };
  }

  async #find<T>(call: Call<T>): Promise<T | undefined> {
    try {
      return await this.#make(call);
    } catch (error) {
      if (isRefusal(error, Code.noNode)) return undefined;
      throw error;
    }
  }

  #make<T>(call: Call<T>): Promise<T> {
    return this.isConnected ? this.calls.make(call) : Promise.reject(new ConnectionLossError());
  }
}
