import { inRootContext } from '../../core/async/root-context.js';
import { settled, systemClock } from '../../core/clock.js';
import { driverError } from './driver-error.js';
import { listensBesides } from './redis-client.js';
import type { SubscribableClient, SubscriberClient } from './redis-client.js';

/** Milliseconds that a subscription is waited for. */
const LONGEST_WAIT = 500;
/** For a connection of our own, which has to come back whatever happens to the other one. */
const SUBSCRIBER_OPTIONS = {
  enableOfflineQueue: true,
  lazyConnect: false,
  autoResubscribe: false, // ioredis lets nobody catch what becomes of it; `ready` subscribes again
  retryStrategy: (attempt: number) => Math.min(attempt * 50, 2_000),
};

export interface WakeUpListener {
  /** A message came in on the channel. */
  message(text: string): void;
  /** Messages may have been missed. */
  missed(): void;
}

/**
 * The channel on which the server wakes one store. Opened at the first wait: on the store's own connection where that
 * speaks RESP3 (ioredis 6), on the subscriber of a Cluster, else on one more, which is closed with the store.
 */
export class WakeUps {
  readonly #client: SubscribableClient;
  readonly #channel: string;
  readonly #listener: WakeUpListener;
  #subscriber: (SubscriberClient & { disconnect?(): void }) | undefined;
  #opened: Promise<void> | undefined;
  /** After the last reconnect. */
  #subscribing: Promise<void> | undefined;
  #isLive = false;

  constructor(client: SubscribableClient, channel: string, listener: WakeUpListener) {
    this.#client = client;
    this.#channel = channel;
    this.#listener = listener;
  }

  /** Messages arrive. While this is `false`, some may be missed. */
  get isLive(): boolean {
    return this.#isLive;
  }

  /**
   * Resolves once messages arrive, or when that takes long: without them, a sign of life finds a free key. Rejects when the
   * subscription is refused; the next call tries again.
   */
  open(): Promise<void> {
    this.#opened ??= inRootContext(() => this.#open());
    const opened = this.#opened;
    return new Promise((resolve, reject) => {
      const cancel = systemClock.schedule(LONGEST_WAIT, resolve, true);
      opened.then(resolve, reject).finally(cancel);
    });
  }

  /**
   * Resolves once the client may be closed, before long in any case: after a reconnect ioredis subscribes again as well, and
   * nobody can catch what becomes of that when the connection ends meanwhile. Never rejects.
   */
  async close(): Promise<void> {
    const subscriber = this.#subscriber;
    this.#subscriber = undefined;
    this.#opened = undefined;
    this.#isLive = false;
    if (!subscriber) return;
    for (const [event, listener] of this.#listeners) subscriber.off(event, listener);
    if (subscriber !== this.#client) return subscriber.disconnect?.();
    this.#client.unsubscribe(this.#channel).catch(() => undefined);
    if (this.#subscribing) await settled(systemClock, this.#subscribing, LONGEST_WAIT);
  }

  readonly #received = (channel: string, text: string): void => {
    if (channel === this.#channel) this.#listener.message(text);
  };

  readonly #closed = (): void => {
    this.#isLive = false;
  };

  /** After a reconnect: subscribing again is harmless, and tells when messages arrive again. */
  readonly #ready = (): void => {
    this.#subscribing = this.#subscribe().then(
      () => this.#listener.missed(),
      () => undefined, // the connection was lost again
    );
  };

  readonly #failed = (): void => undefined; // ioredis reconnects; without a listener it would print

  get #listeners(): readonly (readonly [string, (...args: never[]) => void])[] {
    const own = [
      ['message', this.#received],
      ['close', this.#closed],
      ['ready', this.#ready],
    ] as const;
    return this.#subscriber === this.#client ? own : [...own, ['error', this.#failed]];
  }

  async #open(): Promise<void> {
    try {
      await this.#connect();
    } catch (error) {
      void this.close();
      throw driverError(error);
    }
    this.#listener.missed();
  }

  async #connect(): Promise<void> {
    this.#subscriber = listensBesides(this.#client)
      ? this.#client
      : this.#client.duplicate(SUBSCRIBER_OPTIONS);
    for (const [event, listener] of this.#listeners) this.#subscriber.on(event, listener);
    await this.#subscribe();
  }

  async #subscribe(): Promise<void> {
    await this.#subscriber?.subscribe(this.#channel);
    this.#isLive = this.#subscriber !== undefined;
  }
}
