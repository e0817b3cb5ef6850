import { inRootContext } from '../../core/async/root-context.js';
import { systemClock } from '../../core/clock.js';
import type { Cancel } from '../../core/clock.js';
import { promised } from '../../core/store-call.js';
import type { PostgresListenerClient } from './sql-clients.js';

/** Milliseconds that a connection is waited for: without it, a beat finds out what it would have told. */
const LONGEST_WAIT = 500;
/** Milliseconds after which a connection that cannot listen yet, or does not answer, is given up. */
const LONGEST_START = 5_000;
/** Milliseconds between two questions whether the connection still answers: one may be open, and nothing come through any more. */
const CHECK_EVERY = 5_000;
/** Milliseconds that a server gets to say goodbye. */
const LONGEST_END = 300;
/** Milliseconds that the connection outlives the last wait: the next one often follows. */
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

/** One connection of its own that listens, open while somebody waits. It is made anew at the next beat after it was lost. */
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

  /** Resolves once messages arrive, or when that takes long or fails. Never rejects. */
  open(): Promise<void> {
    this.#cancelLinger?.();
    if (this.#isClosed) return Promise.resolve();
    if (!this.#opened) this.#checkedAt = systemClock.now();
    const opened = (this.#opened ??= inRootContext(() => this.#open()));
    if (systemClock.now() - this.#checkedAt >= CHECK_EVERY) inRootContext(() => this.#check());
    return new Promise((resolve) => {
      const cancel = systemClock.schedule(LONGEST_WAIT, resolve, true);
      void opened.then(cancel).then(resolve);
    });
  }

  /** Nobody waits now. */
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

  /** Never rejects: the next beat tries again. */
  async #open(): Promise<void> {
    await Promise.resolve(); // so that what fails at once fails after `#opened` is set
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
      client.unref?.(); // whoever waits keeps the process alive
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

  /** Gives up a connection that does not answer, as one that is lost: the next beat makes another. */
  #check(): void {
    const client = this.#client;
    if (!client) return;
    this.#checkedAt = systemClock.now();
    const lost = () => this.#lost(client);
    const cancel = systemClock.schedule(LONGEST_START, lost, true);
    promised(() => client.query('SELECT 1')).then(cancel, lost);
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

/** Resolves when the connection has ended, and ends it by force where the server does not answer. Never rejects. */
function end(client: PostgresListenerClient): Promise<void> {
  return new Promise((resolve) => {
    const cancel = systemClock.schedule(LONGEST_END, () => {
      client.connection?.stream?.destroy();
      resolve();
    });
    const ended = () => {
      cancel();
      resolve();
    };
    promised(() => client.end()).then(ended, ended); // one that rejects had ended before
  });
}
