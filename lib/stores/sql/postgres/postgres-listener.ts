import { inRootContext } from '../../../core/async/root-context.js';
import { systemClock } from '../../../core/async/clock.js';
import { waitAtMost } from '../../../core/async/sleep.js';
import type { Cancel } from '../../../core/async/clock.js';
import { promiseTry } from '../../../core/store/store-call.js';
import type { PostgresListenerClient } from '../common/sql-clients.js';

/** Milliseconds to wait for the connection. Without it, a heartbeat finds what a notification would have told. */
const LONGEST_WAIT = 500;
/** Milliseconds after which a connection is given up that cannot listen yet or does not answer. */
const LONGEST_START = 5_000;
/** Milliseconds between two checks that the connection still answers: an open connection may let nothing through any more. */
const CHECK_EVERY = 5_000;
/** Milliseconds that a server gets to end a connection. */
const LONGEST_END = 300;
/** Milliseconds that the connection outlives the last wait: the next wait often follows. */
const LINGER = 2_000;

export interface ListenerEvents {
  /** A message came in on the channel. */
  notified(payload: string): void;
  /** Messages may have been missed. */
  missed(): void;
}

interface Notification {
  readonly channel: string;
  readonly payload?: string | undefined;
}

/** The connection that listens, open while a caller waits. After a loss, the next heartbeat makes a new one. */
export class PostgresListener {
  readonly #connect: () => PostgresListenerClient;
  readonly #channel: string;
  readonly #events: ListenerEvents;
  #client: PostgresListenerClient | undefined;
  #opened: Promise<void> | undefined;
  #cancelLinger: Cancel | undefined;
  #checkedAt = 0;
  #isClosed = false;

  constructor(connect: () => PostgresListenerClient, channel: string, events: ListenerEvents) {
    this.#connect = connect;
    this.#channel = channel;
    this.#events = events;
  }

  /** Resolves once messages arrive, or when that takes too long or fails. Never rejects. */
  async open(): Promise<void> {
    this.#cancelLinger?.();
    if (this.#isClosed) return;
    if (!this.#opened) this.#checkedAt = systemClock.now();
    const opened = (this.#opened ??= inRootContext(() => this.#open()));
    if (systemClock.now() - this.#checkedAt >= CHECK_EVERY) inRootContext(() => this.#check());
    await waitAtMost(systemClock, LONGEST_WAIT, opened, true);
  }

  /** No caller waits now. */
  idle(): void {
    this.#cancelLinger?.();
    const drop = () => void this.#drop();
    this.#cancelLinger = inRootContext(() => systemClock.schedule(LINGER, drop, true));
  }

  /** For good. */
  close(): Promise<void> {
    this.#isClosed = true;
    this.#cancelLinger?.();
    return this.#drop();
  }

  /** Never rejects: the next heartbeat tries again. */
  async #open(): Promise<void> {
    await Promise.resolve(); // so that an immediate failure comes after `#opened` is set
    if (this.#isClosed) return;
    let client: PostgresListenerClient | undefined;
    const giveUp = systemClock.schedule(LONGEST_START, () => this.#lost(client), true);
    try {
      client = this.#connect();
      this.#client = client;
      client.on('notification', this.#notified);
      client.on('error', () => this.#lost(client));
      client.on('end', () => this.#lost(client));
      const connected = client.connect();
      client.unref?.(); // the waiting caller keeps the process alive
      await connected;
      client.unref?.(); // with TLS, it is another socket
      await client.query(`LISTEN "${this.#channel}"`);
      this.#checkedAt = systemClock.now();
      if (this.#client === client) this.#events.missed();
    } catch {
      this.#lost(client);
    } finally {
      giveUp();
    }
  }

  /** Gives up a connection that does not answer, like a lost one: the next heartbeat makes another. */
  #check(): void {
    const client = this.#client;
    if (!client) return;
    this.#checkedAt = systemClock.now();
    const lost = () => this.#lost(client);
    const answer = promiseTry(() => client.query('SELECT 1'));
    answer.catch(lost);
    void waitAtMost(systemClock, LONGEST_START, answer, true).then((isIn) => isIn || lost());
  }

  readonly #notified = ({ channel, payload = '' }: Notification): void => {
    if (channel === this.#channel) this.#events.notified(payload);
  };

  #lost(client: PostgresListenerClient | undefined): void {
    if (client === this.#client) void this.#drop();
  }

  /** Never rejects. */
  async #drop(): Promise<void> {
    const client = this.#client;
    this.#client = undefined;
    this.#opened = undefined;
    if (client) await end(client);
  }
}

/** Resolves when the connection has ended. Ends it by force if the server does not answer. Never rejects. */
async function end(client: PostgresListenerClient): Promise<void> {
  const ended = promiseTry(() => client.end()); // a connection that rejects had ended before
  if (await waitAtMost(systemClock, LONGEST_END, ended)) return;
  client.connection?.stream?.destroy();
}
