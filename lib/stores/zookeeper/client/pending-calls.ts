import { momentOf } from '../../../core/async/clock.js';
import type { Clock, Moment } from '../../../core/async/clock.js';
import { Code } from './zookeeper-client.js';
import type { ClientError, Done } from './zookeeper-client.js';
import { ConnectionLossError, ZooKeeperError } from './zookeeper-errors.js';

/** One request to the server. */
export interface Call<T> {
  /** For messages. */
  readonly path: string;
  /** Whether the answer takes a majority of the servers. */
  readonly isWrite: boolean;
  /** Throws for a malformed answer. */
  readonly check: (answer: unknown) => void;
  readonly send: (done: Done<T>) => void;
}

interface PendingCall {
  readonly sentAt: Moment;
  readonly fail: (error: Error) => void;
}

export interface CallEvents {
  /** An answer says that the session is over. */
  expired(): void;
  /** A write was answered. Reads do not count: a server that is cut off from the others answers them, too. */
  written(sentAt: Moment): void;
}

/** The requests that the server has not answered yet. */
export class PendingCalls {
  readonly #clock: Clock;
  readonly #events: CallEvents;
  /** The server answers in order, so the first one is the oldest. */
  readonly #open = new Set<PendingCall>();

  constructor(clock: Clock, events: CallEvents) {
    this.#clock = clock;
    this.#events = events;
  }

  /** Send time of the oldest request without an answer. */
  get unansweredSince(): number | undefined {
    for (const { sentAt } of this.#open) return sentAt.now;
    return undefined;
  }

  make<T>({ path, isWrite, check, send }: Call<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      const open: PendingCall = { sentAt: momentOf(this.#clock), fail: reject };
      this.#open.add(open);
      const done: Done<T> = (error, value) => {
        if (!this.#open.delete(open)) return; // it has failed with its connection
        const refusal = this.#refusal(error, path);
        if (isWrite && !(refusal instanceof ConnectionLossError)) this.#events.written(open.sentAt);
        if (refusal) return reject(refusal);
        try {
          check(value);
          resolve(value);
        } catch (unknown) {
          reject(unknown);
        }
      };
      try {
        send(done);
      } catch (error) {
        this.#open.delete(open);
        throw error;
      }
    });
  }

  /** The connection is lost. The client reports most of its calls by itself, but not all. */
  fail(): void {
    const all = [...this.#open];
    this.#open.clear();
    for (const { fail } of all) fail(new ConnectionLossError());
  }

  #refusal(error: ClientError | null, path: string): Error | undefined {
    if (!error) return undefined;
    const isOver = error.code === Code.sessionExpired;
    if (isOver) this.#events.expired();
    if (isOver || error.code === Code.connectionLoss) return new ConnectionLossError();
    return new ZooKeeperError(error, path);
  }
}
