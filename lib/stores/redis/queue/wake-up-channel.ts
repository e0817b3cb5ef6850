import { makeRoom } from '../../../core/async/emitter-room.js';
import { inRootContext } from '../../../core/async/root-context.js';
import { systemClock } from '../../../core/async/clock.js';
import { waitAtMost } from '../../../core/async/sleep.js';
import { driverError } from '../../../redis-client/driver-error.js';
import type { WatchedConnection } from '../../../redis-client/silence-watch.js';
import { isRefusedSubscription, openSubscriber } from '../../../redis-client/clients/ioredis.js';
import type { OpenSubscriber } from '../../../redis-client/clients/ioredis.js';
import type { SubscribableClient, SubscriberClient } from '../../../redis-client/redis-client.js';

/** Milliseconds to wait for a subscription. */
const LONGEST_WAIT = 500;
/** Milliseconds without a message after which a waiter checks whether messages still arrive. */
const LONGEST_TRUST = 2_000;

export interface WakeUpListener {
  /** A message came in on the channel. */
  message(text: string): void;
  /** Messages may have been missed. */
  missed(): void;
  /** The server forbids the channel. No waiter is woken until the next `open`. */
  refused(error: unknown): void;
}

/** The first subscription, which callers wait for. */
interface Opening {
  readonly opened: Promise<void>;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

/**
 * The wake-up channel of one store. Opened at the first wait: on the subscriber of a Cluster, on the store's own connection
 * where the client allows that, else on one more, which is closed with the store and when the client ends.
 */
export class WakeUpChannel {
  readonly #client: SubscribableClient;
  readonly #channel: string;
  readonly #listener: WakeUpListener;
  #subscriber: OpenSubscriber | undefined;
  #opening: Opening | undefined;
  /** Callers have waited the full time for the first subscription. */
  #isLate = false;
  #isLive = false;
  /** A subscription is in progress. */
  #isAsking = false;
  #heardAt = 0;

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
   * Resolves once messages arrive, or when that takes long: without messages, a heartbeat finds a free key. Rejects when the
   * server refuses the subscription; the next call tries again. Opens nothing where the client has ended.
   */
  async open(): Promise<void> {
    if (this.#client.status === 'end') return;
    const { opened } = (this.#opening ??= inRootContext(() => this.#open()));
    if (this.#isLate) return;
    if (await waitAtMost(systemClock, LONGEST_WAIT, opened, true)) return opened;
    this.#isLate = !this.#isLive;
  }

  /**
   * Asks the server whether messages still arrive, where none did for a while. Called by waiters: a connection that only the
   * server has closed would starve them. `SilenceWatch` gives up a connection that does not answer.
   */
  check(): void {
    if (!this.#subscriber || this.#isAsking) return;
    if (systemClock.now() - this.#heardAt >= LONGEST_TRUST) this.#subscribe();
  }

  /** The store's own one, if there is one. */
  get connections(): readonly WatchedConnection[] {
    const own = this.#subscriber !== this.#client && this.#subscriber;
    return own ? [own as WatchedConnection] : [];
  }

  /** Removes our subscription and listeners from the client, which may be closed at once. */
  close(): void {
    const subscriber = this.#subscriber;
    if (!subscriber) return;
    for (const [event, listener] of this.#listeners) subscriber.off(event, listener);
    this.#client.off('end', this.#ended);
    makeRoom(this.#client, -1);
    this.#subscriber = undefined;
    this.#opening?.resolve();
    this.#opening = undefined;
    this.#isLate = false;
    this.#isLive = false;
    if (subscriber !== this.#client) subscriber.disconnect?.();
    else this.#client.unsubscribe(this.#channel).catch(() => undefined);
  }

  readonly #received = (channel: string, text: string): void => {
    if (channel !== this.#channel) return;
    this.#heardAt = systemClock.now();
    this.#listener.message(text);
  };

  readonly #closed = (): void => {
    this.#isLive = false;
  };

  /** The client was closed, or has given up. No process could answer a wake-up. */
  readonly #ended = (): void => this.close();

  readonly #failed = (): void => undefined; // ioredis reconnects; without a listener it would print

  /** Subscribing once more is harmless, and tells that messages arrive. */
  readonly #subscribe = (): void => {
    const subscriber = this.#subscriber!;
    this.#isAsking = true;
    subscriber.subscribe(this.#channel).then(
      () => this.#subscribed(subscriber),
      (error: unknown) => this.#refused(subscriber, error),
    );
  };

  get #listeners(): readonly (readonly [string, (...args: never[]) => void])[] {
    const own = [
      ['message', this.#received],
      ['close', this.#closed],
      ['ready', this.#subscribe],
    ] as const;
    return this.#subscriber === this.#client ? own : [...own, ['error', this.#failed]];
  }

  #open(): Opening {
    let settle!: Omit<Opening, 'opened'>;
    const opened = new Promise<void>((resolve, reject) => (settle = { resolve, reject }));
    opened.catch(() => undefined); // it may no longer have a caller that awaits it
    this.#subscriber = openSubscriber(this.#client);
    makeRoom(this.#client, 1);
    for (const [event, listener] of this.#listeners) this.#subscriber.on(event, listener);
    this.#client.on('end', this.#ended);
    this.#subscribe();
    return { opened, ...settle };
  }

  #subscribed(subscriber: SubscriberClient): void {
    if (subscriber !== this.#subscriber) return;
    this.#isAsking = false;
    this.#heardAt = systemClock.now();
    const wasLive = this.#isLive;
    this.#isLive = true;
    this.#opening!.resolve();
    if (!wasLive) this.#listener.missed();
  }

  /** A failure without an answer of the server is tried again at the next `ready`. */
  #refused(subscriber: SubscriberClient, error: unknown): void {
    if (subscriber !== this.#subscriber) return;
    this.#isAsking = false;
    if (!isRefusedSubscription(error)) return;
    const reason = driverError(error);
    this.#opening!.reject(reason);
    this.close();
    this.#listener.refused(reason);
  }
}
