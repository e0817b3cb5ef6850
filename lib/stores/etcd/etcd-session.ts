import { setMaxListeners } from 'node:events';
import { tellAtOnce } from '../../core/abort-signals.js';
import type { Cancel, Clock } from '../../core/clock.js';
import { reasonOf } from '../../core/contract/safe-error.js';
import { idleTimer, TimerQueue } from '../../core/timer-queue.js';
import type { QueuedTimer } from '../../core/timer-queue.js';
import { validUntil } from '../../core/validity.js';
import { unless } from './bounded.js';
import type { EtcdMembers } from './etcd-members.js';
import { KeepAlive } from './keep-alive.js';

/** What the sessions of a store share. */
export interface SessionSurroundings {
  readonly members: EtcdMembers;
  readonly clock: Clock;
  /** Milliseconds. */
  readonly sessionTimeout: number;
  /** The server is silent: nobody knows whether the session still lives. */
  readonly doubt: (reason: string) => void;
}

/**
 * An etcd lease that all locks of a store live by. It is lost when the server says so, or by the clock of this process, when
 * its ttl has passed since the last answered beat was SENT: the server has then let go of it at the latest.
 */
export class EtcdSession {
  readonly id: string;
  /** Aborts when the session is lost. `aborted` tells the truth at once, also when no timer could run for a while. */
  readonly lost: AbortSignal;
  readonly #around: SessionSurroundings;
  readonly #end = new AbortController();
  readonly #keepAlive: KeepAlive;
  readonly #expiry: QueuedTimer;
  readonly #timers: TimerQueue;
  #waiting: { readonly since: number; readonly resolve: () => void }[] = [];
  #until: number;
  #epoch = '0';

  /** Rejects when no member grants a lease. */
  static async open(around: SessionSurroundings): Promise<EtcdSession> {
    const { members, clock, sessionTimeout } = around;
    let sentAt = 0;
    const { ID, TTL } = await members.ask((client, options) => {
      sentAt = clock.now();
      return client.leaseClient.leaseGrant({ TTL: Math.ceil(sessionTimeout / 1_000) }, options);
    });
    return new EtcdSession(ID, sentAt, Number(TTL) * 1_000, around);
  }

  private constructor(id: string, sentAt: number, ttl: number, around: SessionSurroundings) {
    this.id = id;
    this.#around = around;
    const { clock, members } = around;
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

  /** How often a request of this session was made of no effect, as far as is known. */
  get epoch(): string {
    return this.#epoch;
  }

  get isLost(): boolean {
    return this.lost.aborted;
  }

  /** Resolves with the next beat that is answered, which is sent at once. Rejects when the session is lost. */
  async confirm(): Promise<void> {
    const heard = new Promise<void>((resolve) => {
      this.#waiting.push({ since: this.#around.clock.now(), resolve });
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

  /** Gives it back, with all that lives by it. Never rejects: what cannot be given back expires. */
  async close(): Promise<void> {
    if (this.isLost) return;
    this.lose('the store was closed');
    const revoke = this.#around.members.once((client, options) =>
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

  /** One member that fails is no reason for doubt while another one answers. */
  #unanswered(failures: number, error: unknown): void {
    if (failures !== Math.min(2, this.#around.members.count)) return;
    this.#around.doubt(`etcd does not answer: ${reasonOf(error)}`);
  }
}
