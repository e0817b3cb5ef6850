import { clientKeyPrefix } from './redis-client.js';
import type { SubscribableClient } from './redis-client.js';
import type { WatchedConnection } from '../../redis-client/silence-watch.js';
import type { Held } from './held.js';
import { CALL_UP } from './queue/line-lua.js';
import { RedisQueue } from './redis-queue.js';
import { CHANNEL } from './redis-lua.js';
import type { ScriptRunner } from './script-runner.js';
import { Tenures } from './tenures.js';
import { WakeUps } from './wake-ups.js';

/** What the server says to one store: keys handed over to its waiters, and other processes waiting for its locks. */
export class WaitingRoom {
  readonly tenures: Tenures;
  readonly #queue: RedisQueue;
  readonly #wakeUps: WakeUps;
  readonly #clientPrefix: string;

  constructor(
    client: SubscribableClient,
    id: string,
    runner: ScriptRunner,
    slotOf: (lock: string) => number,
    localPassLimit: number,
  ) {
    this.#clientPrefix = clientKeyPrefix(client);
    this.#wakeUps = new WakeUps(client, CHANNEL + id, {
      message: (text) => this.#message(text),
      missed: () => this.#missed(),
      refused: (error) => this.#queue.refuseAll(error),
    });
    this.#queue = new RedisQueue(runner, slotOf, () => this.#wakeUps.check());
    this.tenures = new Tenures(this.#wakeUps, localPassLimit);
  }

  /**
   * Stands in line. Resolves when the key has been handed over, rejects with `signal.reason` when the line has been left, with
   * `LockPermitsError` where the key is in use with other permits.
   */
  async wait(held: Held, signal: AbortSignal): Promise<void> {
    if (!this.#wakeUps.isLive) await this.#wakeUps.open();
    signal.throwIfAborted();
    return this.#queue.wait(held, signal);
  }

  /** Why nobody knows what has become of the one who waits with `value`: the server has not answered since. */
  failure(value: string): unknown {
    return this.#queue.failure(value);
  }

  /** Beside those of the client. */
  get connections(): readonly WatchedConnection[] {
    return this.#wakeUps.connections;
  }

  close(): void {
    this.#wakeUps.close();
  }

  #message(text: string): void {
    if (text.startsWith('! ')) this.tenures.contended(text.slice(2 + this.#clientPrefix.length));
    else if (text.startsWith(CALL_UP)) this.#queue.calledUp(text.slice(CALL_UP.length));
    else this.#queue.woken(text);
  }

  #missed(): void {
    this.tenures.doubtAll();
    this.#queue.standAgain();
  }
}
