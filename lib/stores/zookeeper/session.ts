import type { Cancel, Clock } from '../../core/clock.js';
import { TimerQueue } from '../../core/timer-queue.js';
import { Changes } from './changes.js';
import { Connection } from './connection.js';
import { Liveness } from './liveness.js';
import { Tenure } from './tenure.js';
import { Tenures } from './tenures.js';
import type { ZooKeeperClient } from './zookeeper-client.js';
import { ConnectionLossError, SessionEndedError } from './zookeeper-errors.js';

/** Milliseconds for the server to end a session that is closed. */
const GOODBYE = 1_000;

export interface SessionSurroundings {
  readonly clock: Clock;
  /** `host:port,host:port`, for messages. */
  readonly servers: string;
  /** The path of a node for beats that have no other. */
  readonly root: string;
  /** Told when the nodes of this session are in doubt. */
  readonly doubt: (reason: string) => void;
}

/** How long to wait for a connection. */
export interface Patience {
  readonly within?: number | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** One session at ZooKeeper, over all its connections, with the nodes that live as long as it does. Once it has ended it is of no use. */
export class Session {
  readonly #around: SessionSurroundings;
  readonly #connection: Connection;
  readonly #liveness: Liveness;
  readonly #tenures = new Tenures();
  readonly #changes: Changes;
  readonly #timers: TimerQueue;
  /** Whether a new session is worth a try when this one has ended: it had a connection, and the servers took its `auth`. */
  isWorthAnother = false;
  #ended: SessionEndedError | undefined;
  #hung: string | undefined;

  constructor(client: ZooKeeperClient, around: SessionSurroundings) {
    this.#around = around;
    this.#changes = new Changes(around.clock);
    this.#timers = new TimerQueue(around.clock);
    this.#connection = new Connection(client, around.clock, {
      connected: () => this.#connected(),
      disconnected: () => this.#disconnected(),
      ended: (why) => this.#end(why),
      refused: (why) => this.#refused(why),
    });
    const { length } = around.servers.split(',');
    this.#liveness = new Liveness(this.#connection, around.clock, length, {
      beat: () => this.#beat(),
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
  enter(): Tenure {
    const tenure = new Tenure(() => this.#liveness.isOutlived);
    this.#tenures.add(tenure);
    return tenure;
  }

  /** When nodes are gone. */
  leave(tenure: Tenure): void {
    this.#tenures.remove(tenure);
  }

  /** Throws `SessionEndedError`. */
  assertAlive(): void {
    if (this.isOver) throw this.#ended!;
  }

  /** Resolves when it is connected. Rejects when the session has ended, with `signal.reason`, or after `within` ms. */
  async ready({ within, signal }: Patience = {}): Promise<void> {
    const { clock, servers } = this.#around;
    const until = within === undefined ? Infinity : clock.now() + within;
    for (;;) {
      this.assertAlive();
      if (this.#connection.isConnected) return;
      signal?.throwIfAborted();
      if (clock.now() >= until)
        throw new Error(`no connection to ZooKeeper at ${servers} within ${within} ms`);
      await this.#changes.next(until, signal);
    }
  }

  /**
   * Makes a call, and makes it again after a lost connection, until the session ends. For calls that may be repeated. The
   * patience is that for the first one: after it, something may have to be cleaned up.
   */
  async retry<T>(
    call: (connection: Connection, isRepeated: boolean) => Promise<T>,
    patience?: Patience,
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

  /** Makes a call that says nothing, once. A lost connection is no failure of it. */
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

  /** Resolves after `ms`, or before, when the connection or the session ends. Never rejects. */
  pause(ms: number): Promise<void> {
    return this.#changes.next(this.#around.clock.now() + ms);
  }

  /** Ends the session at the server, which frees its nodes, if there is a connection. Whoever uses it is told at once. */
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
    const { doubt, servers } = this.#around;
    this.#liveness.disconnected();
    doubt(`ZooKeeper at ${servers}: ${this.#hung ?? 'the connection was lost'}`);
  }

  #giveUpServer(ms: number): void {
    this.#hung = `no answer for ${Math.round(ms)} ms`;
    this.#connection.cut();
  }

  async #beat(): Promise<void> {
    try {
      await this.#tenures.lookAfter(this.#connection, this.#around.root);
    } catch {
      // a refusal is an answer, too; a connection that was lost has been told of
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
    this.#tenures.loseAll(this.#ended);
    this.#changes.tell();
  }
}
