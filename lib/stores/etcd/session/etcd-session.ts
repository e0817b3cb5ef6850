import { setMaxListeners } from 'node:events';
import { tellAtOnce } from '../../../core/async/abort-signals.js';
import type { Cancel, Clock } from '../../../core/async/clock.js';
import { reasonOf } from '../../../core/contract/safe-error.js';
import { idleTimer, TimerQueue } from '../../../core/async/timer-queue.js';
import type { QueuedTimer } from '../../../core/async/timer-queue.js';
import { validUntil } from '../../../core/store/grant.js';
import { unless } from '../client/bounded.js';
import type { EtcdMembers } from '../client/etcd-members.js';
import { KeepAlive } from './keep-alive.js';

/** Shared by the sessions of a store. */
export interface SessionContext {
  readonly members: EtcdMembers;
  readonly clock: Clock;
  /** Milliseconds. */
  readonly sessionTimeout: number;
  /** The server is silent: it is unknown whether the session still lives. */
  readonly doubt: (reason: string) => void;
}

/**
 * The etcd lease to which all locks of a store are bound. It is lost when the server says so. By the clock of this process it is
 * lost when its ttl has passed since the last answered heartbeat was SENT: by then the server has let go of it.
 */
export class EtcdSession {
  readonly id: string;
  /** Aborts when the session is lost. `aborted` is right at once, even if no timer could run for a while. */
  readonly lost: AbortSignal;
  readonly #context: SessionContext;
  readonly #end = new AbortController();
  readonly #keepAlive: KeepAlive;
  readonly #expiry: QueuedTimer;
  readonly #timers: TimerQueue;
  #waiting: { readonly since: number; readonly resolve: () => void }[] = [];
  #until: number;
  #epoch = '0';

  /** Rejects when no member grants a lease. */
  static async open(context: SessionContext): Promise<EtcdSession> {
    const { members, clock, sessionTimeout } = context;
    let sentAt = 0;
    const { ID, TTL } = await members.ask((client, options) => {
      sentAt = clock.now();
      return client.leaseClient.leaseGrant({ TTL: Math.ceil(sessionTimeout / 1_000) }, options);
    });
    return new EtcdSession(ID, sentAt, Number(TTL) * 1_000, context);
  }

  private constructor(id: string, sentAt: number, ttl: number, context: SessionContext) {
    this.id = id;
    this.#context = context;
    const { clock, members } = context;
    this.#until = validUntil(sentAt, ttl);
    this.lost = this.#end.signal;
    setMaxListeners(0, this.lost); // one for each lock that is held
    tellAtOnce(this.lost, () => clock.now() >= this.#until);
    this.#timers = new TimerQueue(clock);
    this.#expiry = idleTimer(() => this.lose(`its ttl of ${ttl} ms passed without an answer`));
    this.#timers.move(this.#expiry, this.#until);
    this.#keepAlive = new KeepAlive(id, members, clock, {
      answered: (from, newTtl) => this.#answered(from, newTtl),
      unanswered: (failures, error) => this.#unanswered(failures, error),
      gone: () => this.lose('etcd has let it go'),
    });
    void this.#keepAlive.run(ttl);
  }

  /** How often a request of this session was cancelled, as far as is known. */
  get epoch(): string {
    return this.#epoch;
  }

  get isLost(): boolean {
    return this.lost.aborted;
  }

  /** Resolves with the next heartbeat that is answered, which is sent at once. Rejects when the session is lost. */
  async confirm(): Promise<void> {
    const heard = new Promise<void>((resolve) => {
      this.#waiting.push({ since: this.#context.clock.now(), resolve });
    });
    this.#keepAlive.hurry();
    await unless(this.lost, heard);
  }

  /** Calls `run` in `ms`, unless it is cancelled before. */
  later(ms: number, run: () => void): Cancel {
    return this.#timers.later(ms, run);
  }

  learnEpoch(version: string): void {
    this.#epoch = version;
  }

  lose(why: string): void {
    this.#timers.remove(this.#expiry);
    this.#keepAlive.stop();
    this.#waiting = [];
    this.#end.abort(new Error(`the etcd session ${this.id} was lost: ${why}`));
  }

  /** Revokes it, with all nodes that are bound to it. Never rejects: if that fails, the lease expires. */
  async close(): Promise<void> {
    if (this.isLost) return;
    this.lose('the store was closed');
    const revoke = this.#context.members.once((client, options) =>
      client.leaseClient.leaseRevoke({ ID: this.id }, options),
    );
    await revoke.catch(() => undefined);
  }

  #answered(sentAt: number, ttl: number): void {
    if (this.isLost) return;
    this.#until = Math.max(this.#until, validUntil(sentAt, ttl));
    this.#timers.move(this.#expiry, this.#until);
    const heard = this.#waiting.filter(({ since }) => since <= sentAt);
    this.#waiting = this.#waiting.filter(({ since }) => since > sentAt);
    for (const { resolve } of heard) resolve();
    if (this.#waiting.length > 0) this.#keepAlive.hurry();
  }

  /** A single failing member is no reason for doubt while another one answers. */
  #unanswered(failures: number, error: unknown): void {
    if (failures !== Math.min(2, this.#context.members.count)) return;
    this.#context.doubt(`etcd does not answer: ${reasonOf(error)}`);
  }
}
