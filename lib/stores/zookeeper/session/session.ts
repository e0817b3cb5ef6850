import type { Cancel, Clock } from '../../../core/async/clock.js';
import { TimerQueue } from '../../../core/async/timer-queue.js';
import { reasonOf } from '../../../core/contract/safe-error.js';
import { Changes } from '../client/changes.js';
import { Connection } from '../client/connection.js';
import { Liveness } from './liveness.js';
import { NodeLifetime } from './node-lifetime.js';
import { NodeLifetimes } from './node-lifetimes.js';
import type { ZooKeeperClient } from '../client/zookeeper-client.js';
import { ConnectionLossError, SessionEndedError } from '../client/zookeeper-errors.js';

/** Milliseconds for the server to end a session that is closed. */
const GOODBYE = 1_000;

export interface SessionContext {
  readonly clock: Clock;
  /** `host:port,host:port`, for messages. */
  readonly servers: string;
  /** The path of a node for heartbeats that have no other. */
  readonly root: string;
  /** Called when the nodes of this session are in doubt. */
  readonly doubt: (reason: string) => void;
}

/** How long to wait for a connection. */
export interface ConnectLimits {
  readonly within?: number | undefined;
  readonly signal?: AbortSignal | undefined;
}

/**
 * One session at ZooKeeper, over all its connections, with the nodes that live as long as it does. It cannot be used after its
 * end.
 */
export class Session {
  readonly #context: SessionContext;
  readonly #connection: Connection;
  readonly #liveness: Liveness;
  readonly #lifetimes = new NodeLifetimes();
  readonly #changes: Changes;
  readonly #timers: TimerQueue;
  /** Whether a new session is worth a try after this one: it had a connection, and the servers accepted its `auth`. */
  isWorthAnother = false;
  #ended: SessionEndedError | undefined;
  #hung: string | undefined;

  constructor(client: ZooKeeperClient, context: SessionContext) {
    this.#context = context;
    this.#changes = new Changes(context.clock);
    this.#timers = new TimerQueue(context.clock);
    this.#connection = new Connection(client, context.clock, {
      connected: () => this.#connected(),
      disconnected: () => this.#disconnected(),
      ended: (why) => this.#end(why),
      refused: (why) => this.#refused(why),
    });
    const { length } = context.servers.split(',');
    this.#liveness = new Liveness(this.#connection, context.clock, length, {
      heartbeat: () => this.#heartbeat(),
      hangs: (ms) => this.#giveUpServer(ms),
      outlived: (why) => this.#end(why),
    });
    this.#connection.connect();
  }

  get isOver(): boolean {
    this.#liveness.check();
    return this.#ended !== undefined;
  }

  /** Before nodes are made. */
  enter(): NodeLifetime {
    const lifetime = new NodeLifetime(() => this.#liveness.isOutlived);
    this.#lifetimes.add(lifetime);
    return lifetime;
  }

  /** When nodes are gone. */
  leave(lifetime: NodeLifetime): void {
    this.#lifetimes.remove(lifetime);
  }

  /** Throws `SessionEndedError`. */
  assertAlive(): void {
    if (this.isOver) throw this.#ended!;
  }

  /** Resolves when it is connected. Rejects when the session has ended, with `signal.reason`, or after `within` ms. */
  async ready({ within, signal }: ConnectLimits = {}): Promise<void> {
    const { clock, servers } = this.#context;
    const until = within === undefined ? Infinity : clock.now() + within;
    for (;;) {
      this.assertAlive();
      if (this.#connection.isConnected) return;
      signal?.throwIfAborted();
      if (clock.now() >= until)
        throw notConnected(`${servers} within ${within} ms`, this.#connection.failure);
      await this.#changes.next(until, signal);
    }
  }

  /**
   * Makes a call, and repeats it after a lost connection, until the session ends. For calls that may be repeated. The limit of
   * the wait is for the first attempt only: after it, there may be something to clean up.
   */
  async retry<T>(
    call: (connection: Connection, isRepeated: boolean) => Promise<T>,
    patience?: ConnectLimits,
  ): Promise<T> {
    for (let isRepeated = false; ; isRepeated = true) {
      await this.ready(isRepeated ? {} : patience);
      try {
        return await call(this.#connection, isRepeated);
      } catch (error) {
        if (!(error instanceof ConnectionLossError)) throw error;
      }
    }
  }

  /** Makes a call without a result, once. A lost connection does not count as its failure. */
  async attempt(call: (connection: Connection) => Promise<void>): Promise<void> {
    try {
      await call(this.#connection);
    } catch (error) {
      if (!(error instanceof ConnectionLossError)) throw error;
    }
  }

  /** Calls `run` in `ms`, unless it is cancelled before. */
  later(ms: number, run: () => void): Cancel {
    return this.#timers.later(ms, run);
  }

  /** Resolves after `ms`, or earlier when the connection or the session ends. Never rejects. */
  pause(ms: number): Promise<void> {
    return this.#changes.next(this.#context.clock.now() + ms);
  }

  /** Ends the session at the server, which frees its nodes, if there is a connection. Its users are told at once. */
  async close(): Promise<void> {
    if (this.#ended) return;
    this.#finish('the store was closed');
    this.#connection.askToEnd();
    if (this.#connection.isConnected) await this.pause(GOODBYE);
    this.#connection.retire();
  }

  #connected(): void {
    this.isWorthAnother = true;
    this.#hung = undefined;
    this.#liveness.connected();
    this.#changes.tell();
  }

  #refused(why: string): void {
    this.isWorthAnother = false;
    this.#end(why);
  }

  #disconnected(): void {
    this.#changes.tell();
    if (this.#ended) return;
    const { doubt, servers } = this.#context;
    this.#liveness.disconnected();
    doubt(`ZooKeeper at ${servers}: ${this.#hung ?? 'the connection was lost'}`);
  }

  #giveUpServer(ms: number): void {
    this.#hung = `no answer for ${Math.round(ms)} ms`;
    this.#connection.cut();
  }

  async #heartbeat(): Promise<void> {
    try {
      await this.#lifetimes.lookAfter(this.#connection, this.#context.root);
    } catch {
      // a refusal is an answer, too; a lost connection has been reported
    }
  }

  #end(why: string): void {
    if (this.#ended) return;
    this.#finish(why);
    this.#connection.retire();
  }

  #finish(why: string): void {
    this.#ended = new SessionEndedError(why);
    this.#liveness.stop();
    this.#lifetimes.loseAll(this.#ended);
    this.#changes.tell();
  }
}

function notConnected(where: string, cause: unknown): Error {
  const why = cause === undefined ? '' : `: ${reasonOf(cause)}`;
  return new Error(`no connection to ZooKeeper at ${where}${why}`, cause ? { cause } : undefined);
}
