import { errorMonitor } from 'node:events';
import { reasonOf } from '../../../core/contract/safe-error.js';
import { systemClock } from '../../../core/async/clock.js';
import { waitAtMost } from '../../../core/async/sleep.js';
import type { NodeRedisConnection } from './connection.js';
import type { NodeRedisClient } from './node-redis-client.js';

interface Call {
  /** Of the command, in lower case. */
  readonly name: string;
  readonly send: (client: NodeRedisClient) => Promise<unknown>;
  readonly resolve: (reply: unknown) => void;
  readonly reject: (error: unknown) => void;
}

/** Milliseconds for the calls under way at `close`. */
const CLOSE_TIMEOUT = 1_000;

/**
 * The calls of one connection. They wait until it is ready; those without an answer when it is lost are sent again on the next
 * one, in their order, as ioredis does.
 */
export class NodeRedisCalls {
  readonly #connection: NodeRedisConnection;
  readonly #givesUp: boolean;
  #waiting: Call[] = [];
  #sent = 0;
  /** How often the connection was stopped, which ends its calls. */
  #stops = 0;
  #isClosing = false;
  #idle: (() => void) | undefined;

  /** With `givesUp`, no call is sent again. */
  constructor(connection: NodeRedisConnection, givesUp: boolean) {
    this.#connection = connection;
    this.#givesUp = givesUp;
    connection.on('ready', this.#sendAll);
    connection.on('failing', (error: unknown) => this.#rejectAll(givesUp ? closed(error) : error));
    connection.on(errorMonitor, this.#failed);
    connection.on('stopped', this.#stopped);
  }

  /** Sent, without an answer. */
  get unanswered(): number {
    return this.#connection.client ? this.#sent : 0;
  }

  /** A refusal of the server is a `ReplyError` with the command. */
  make(name: string, send: Call['send']): Promise<unknown> {
    return new Promise((resolve, reject) => this.#take({ name, send, resolve, reject }));
  }

  /** Closes the connection after the calls under way. A later call opens it while it lasts, unless it cannot be opened at once. */
  async close(): Promise<void> {
    this.#isClosing = true;
    const idle = new Promise<void>((resolve) => (this.#idle = resolve));
    if (!this.#isIdle) await waitAtMost(systemClock, CLOSE_TIMEOUT, idle, true);
    this.#idle = undefined;
    this.#connection.stop();
  }

  #take(call: Call): void {
    const { client } = this.#connection;
    if (client) return this.#send(call, client);
    if (!this.#connection.open()) return call.reject(ended());
    this.#waiting.push(call);
  }

  #send(call: Call, client: NodeRedisClient): void {
    const stops = this.#stops;
    this.#sent++;
    call.send(client).then(
      (reply) => {
        if (client === this.#connection.client) this.#answered();
        call.resolve(reply);
      },
      (error: unknown) => {
        if (stops !== this.#stops) return call.reject(ended({ cause: error }));
        if (client !== this.#connection.client) return this.#lost(call, error);
        this.#answered();
        call.reject(refusal(error, call.name));
        if (isOfReplica(error)) this.#connection.failed(client, error);
      },
    );
  }

  #lost(call: Call, error: unknown): void {
    if (this.#givesUp) call.reject(closed(error));
    else this.#take(call);
  }

  #answered(): void {
    this.#connection.heard();
    this.#sent--;
    if (!this.#isClosing || !this.#isIdle) return;
    if (this.#idle) this.#idle();
    else this.#connection.stop(); // opened by a call after `close`
  }

  get #isIdle(): boolean {
    return this.unanswered === 0 && this.#waiting.length === 0;
  }

  readonly #sendAll = (): void => {
    this.#sent = 0;
    const { client } = this.#connection;
    if (client) for (const call of this.#waiting.splice(0)) this.#send(call, client);
  };

  /** After `close`, no caller is left to stop the attempts to connect. */
  readonly #failed = (error: unknown): void => {
    if (!this.#isClosing || this.#idle) return;
    this.#rejectAll(error);
    this.#connection.stop();
  };

  readonly #stopped = (): void => {
    this.#stops++;
    this.#rejectAll(ended());
  };

  #rejectAll(error: unknown): void {
    for (const call of this.#waiting.splice(0)) call.reject(error);
    this.#idle?.();
  }
}

/** The master of the time when the connection was made is a replica now: the next connection may lead to the new one. */
function isOfReplica(error: unknown): boolean {
  return error instanceof Error && error.message.startsWith('READONLY');
}

function ended(options?: ErrorOptions): Error {
  return new Error('the client was closed', options);
}

/** As ioredis says it. */
function closed(cause: unknown): Error {
  return new Error(`Connection is closed: ${reasonOf(cause)}`, { cause });
}

function refusal(error: unknown, name: string): unknown {
  if (!(error instanceof Error)) return error;
  Object.defineProperty(error, 'name', { value: 'ReplyError', configurable: true, writable: true });
  return Object.assign(error, { command: { name } });
}
