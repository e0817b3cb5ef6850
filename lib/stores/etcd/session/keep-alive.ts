import { sleep } from '../../../core/async/sleep.js';
import type { Clock } from '../../../core/async/clock.js';
import { within } from '../client/bounded.js';
import { checkKept } from '../client/etcd-answers.js';
import type { EtcdStream, LeaseKept } from '../client/etcd-client.js';
import type { EtcdConnection, EtcdMembers } from '../client/etcd-members.js';

/** The outcome of the heartbeats. */
export interface KeepAliveEvents {
  /** The server keeps the session for `ttl` ms, counted from no earlier than `sentAt`. */
  answered(sentAt: number, ttl: number): void;
  /** This many heartbeats in a row had no answer. */
  unanswered(failures: number, error: unknown): void;
  /** The server knows no such session. */
  gone(): void;
}

/** Three chances within a session: one heartbeat each third of it, as in etcd's own client. */
const BEATS_PER_SESSION = 3;

/** Keeps one session alive: one heartbeat at a time, on one stream, to one member after the other when they fail. */
export class KeepAlive {
  readonly #id: string;
  readonly #members: EtcdMembers;
  readonly #clock: Clock;
  readonly #events: KeepAliveEvents;
  readonly #stop = new AbortController();
  #wake = new AbortController();
  #stream: HeartbeatStream | undefined;
  #failures = 0;

  constructor(id: string, members: EtcdMembers, clock: Clock, events: KeepAliveEvents) {
    this.#id = id;
    this.#members = members;
    this.#clock = clock;
    this.#events = events;
  }

  /** Sends heartbeats until `stop`. Never rejects. */
  async run(ttl: number): Promise<void> {
    const { signal } = this.#stop;
    signal.addEventListener('abort', () => this.#wake.abort(), { once: true });
    for (;;) {
      if (this.#failures > 0) await this.#members.pause(signal);
      else await sleep(this.#clock, ttl / BEATS_PER_SESSION, this.#wake.signal, true);
      if (signal.aborted) break;
      this.#wake = new AbortController();
      await this.#heartbeat();
    }
    this.#stream?.cancel();
  }

  /** Sends a heartbeat at once. */
  hurry(): void {
    this.#wake.abort();
  }

  stop(): void {
    this.#stop.abort();
  }

  async #heartbeat(): Promise<void> {
    const { timeout } = this.#members;
    let connection: EtcdConnection | undefined;
    try {
      connection = await this.#members.connection();
      this.#stream ??= await within(this.#clock, timeout, this.#open(connection));
      const sentAt = this.#clock.now();
      const kept = await within(this.#clock, timeout, this.#stream.heartbeat());
      checkKept(this.#id, kept);
      this.#heard(sentAt, kept);
    } catch (error) {
      this.#stream?.cancel();
      this.#stream = undefined;
      if (connection) this.#members.failed(connection);
      if (!this.#stop.signal.aborted) this.#events.unanswered(++this.#failures, error);
    }
  }

  #heard(sentAt: number, { TTL }: LeaseKept): void {
    if (this.#stop.signal.aborted) return;
    this.#failures = 0;
    if (Number(TTL) > 0) this.#events.answered(sentAt, Number(TTL) * 1_000);
    else this.#events.gone();
  }

  async #open(connection: EtcdConnection): Promise<HeartbeatStream> {
    const raw = await connection.client.leaseClient.leaseKeepAlive();
    const stream = new HeartbeatStream(raw, this.#id);
    connection.keep(raw, () => {
      stream.end();
      if (this.#stream === stream) this.#stream = undefined;
      this.hurry(); // another member is asked at once
    });
    return stream;
  }
}

/** One call and its answer at a time. */
class HeartbeatStream {
  readonly #raw: EtcdStream<{ ID: string }, LeaseKept>;
  readonly #id: string;
  #resolve: ((kept: LeaseKept) => void) | undefined;
  #reject: ((error: Error) => void) | undefined;
  #hasEnded = false;

  constructor(raw: EtcdStream<{ ID: string }, LeaseKept>, id: string) {
    this.#raw = raw;
    this.#id = id;
    raw.on('data', (kept) => this.#resolve?.(kept));
  }

  heartbeat(): Promise<LeaseKept> {
    return new Promise((resolve, reject) => {
      if (this.#hasEnded) throw new Error('the connection to etcd was lost');
      this.#resolve = resolve;
      this.#reject = reject;
      this.#raw.write({ ID: this.#id });
    });
  }

  end(): void {
    this.#hasEnded = true;
    this.#reject?.(new Error('the connection to etcd was lost'));
  }

  cancel(): void {
    this.#raw.cancel();
  }
}
