import type { Clock } from '../../../core/async/clock.js';
import { TimerQueue, idleTimer } from '../../../core/async/timer-queue.js';
import { validUntil } from '../../../core/store/grant.js';
import type { Connection } from '../client/connection.js';

/**
 * Parts of the session timeout. When a server hangs, they leave at least a fifth of it, a third as a rule, to find another one:
 * the session counts from a heartbeat before the last one.
 */
const LOOK_EVERY = 1 / 24;
const BEAT_AFTER = 1 / 4;
const ANSWER_WITHIN = 1 / 6;
const CONNECT_WITHIN = 1 / 3;

export interface LivenessEvents {
  /** Sends a write to the server, which confirms the session. Never rejects. */
  heartbeat(): Promise<void>;
  /** Gives the server up. */
  hangs(milliseconds: number): void;
  /** The session counts as dead, whatever the server would say. */
  outlived(why: string): void;
}

/**
 * Judges by the local clock whether the session lives. The client cannot: it has no read timeout, reports an expiry only once it
 * is connected again, and does not report the answers to its pings.
 *
 * A write is sent each quarter of the session timeout, even when there are no nodes: the first one that is made has to last. The
 * session counts as dead when the timeout (less 1 % + 2 ms for clocks) has passed since the last write was SENT that the leader
 * must have heard of, by `Confirmations`: the leader cannot have ended it before.
 */
export class Liveness {
  readonly #connection: Connection;
  readonly #clock: Clock;
  readonly #servers: number;
  readonly #events: LivenessEvents;
  readonly #timers: TimerQueue;
  readonly #look = idleTimer(() => this.#tick());
  readonly #end = idleTimer(() => this.check());
  #triedSince: number;
  /** Before the first connection there is no session, and no node. */
  #hasBegun = false;
  #isBeating = false;
  #isOver = false;

  constructor(connection: Connection, clock: Clock, servers: number, events: LivenessEvents) {
    this.#connection = connection;
    this.#clock = clock;
    this.#servers = servers;
    this.#events = events;
    this.#timers = new TimerQueue(clock);
    this.#triedSince = clock.now();
    this.#arm();
  }

  connected(): void {
    this.#hasBegun = true;
    this.#connection.confirmations.connected(this.#triedSince);
    this.#arm();
    void this.#heartbeat();
  }

  disconnected(): void {
    this.#triedSince = this.#clock.now();
  }

  /** Its time is up, even if no timer could run meanwhile. */
  get isOutlived(): boolean {
    return !this.#isOver && this.#clock.now() >= this.#deadline;
  }

  /** Ends it if its time is up. */
  check(): void {
    if (this.#isOver) return;
    if (!this.isOutlived) return this.#timers.move(this.#end, this.#deadline);
    const { sessionTimeout } = this.#connection;
    this.#events.outlived(`nothing that confirms it for the session timeout, ${sessionTimeout} ms`);
  }

  stop(): void {
    this.#isOver = true;
    this.#timers.remove(this.#look);
    this.#timers.remove(this.#end);
  }

  get #deadline(): number {
    const { confirmations, sessionTimeout } = this.#connection;
    return this.#hasBegun ? validUntil(confirmations.since, sessionTimeout) : Infinity;
  }

  #arm(): void {
    this.#timers.move(this.#end, this.#deadline);
    const { sessionTimeout } = this.#connection;
    this.#timers.move(this.#look, this.#clock.now() + sessionTimeout * LOOK_EVERY);
  }

  #tick(): void {
    this.check();
    if (this.#isOver) return;
    if (this.#connection.isConnected) this.#listen();
    else this.#hurry();
    this.#arm();
  }

  #listen(): void {
    const { calls, confirmations, sessionTimeout } = this.#connection;
    const now = this.#clock.now();
    const unanswered = now - (calls.unansweredSince ?? now);
    if (unanswered >= sessionTimeout * ANSWER_WITHIN) return this.#events.hangs(unanswered);
    if (now - (confirmations.newest?.now ?? -Infinity) >= sessionTimeout * BEAT_AFTER)
      void this.#heartbeat();
  }

  /** A server that hangs accepts connections and sends nothing, and the client would wait for it. */
  #hurry(): void {
    const now = this.#clock.now();
    const patience = (this.#connection.sessionTimeout * CONNECT_WITHIN) / this.#servers;
    if (now - this.#triedSince < patience) return;
    this.#triedSince = now;
    this.#connection.cut();
  }

  async #heartbeat(): Promise<void> {
    if (this.#isBeating) return;
    this.#isBeating = true;
    await this.#events.heartbeat();
    this.#isBeating = false;
  }
}
