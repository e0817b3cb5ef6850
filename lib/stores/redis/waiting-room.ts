import { clientKeyPrefix } from './redis-client.js';
import type { DuplicableClient, RedisClient, SubscriberClient } from './redis-client.js';
import { RedisQueue } from './redis-queue.js';
import { CHANNEL, FENCING_BLOCK } from './redis-lua.js';
import type { ScriptRunner } from './script-runner.js';
import type { Tenure } from './tenure.js';
import { Tenures } from './tenures.js';
import { WakeUps } from './wake-ups.js';

/** What the server says to one store: keys handed over to its waiters, and other processes waiting for its locks. */
export class WaitingRoom {
  readonly tenures: Tenures;
  readonly #queue: RedisQueue;
  readonly #wakeUps: WakeUps;
  readonly #clientPrefix: string;

  constructor(
    client: RedisClient & SubscriberClient & DuplicableClient,
    id: string,
    runner: ScriptRunner,
    slotOf: (lock: string) => number,
    localPassLimit: number,
  ) {
    this.#clientPrefix = clientKeyPrefix(client);
    this.#wakeUps = new WakeUps(client, CHANNEL + id, {
      message: (text) => this.#message(text),
      missed: () => this.#missed(),
    });
    this.#queue = new RedisQueue(runner, slotOf);
    this.tenures = new Tenures(this.#wakeUps, localPassLimit);
  }

  /** Stands in line for the lock `keys[0]`. Rejects with `signal.reason`, and has left the line by then. */
  async wait<T>(
    keys: readonly string[],
    value: string,
    ttl: number,
    signal: AbortSignal,
    granted: (fence: unknown, tenure: Tenure) => T,
  ): Promise<T> {
    await this.#wakeUps.open();
    signal.throwIfAborted();
    return this.#queue.wait(keys, value, ttl, signal, ({ fence, isContended }) =>
      granted(fence, this.tenures.begin(keys[0]!, isContended, FENCING_BLOCK - 1)),
    );
  }

  close(): void {
    this.#wakeUps.close();
  }

  #message(text: string): void {
    const [first = '', second, ...rest] = text.split(' ');
    if (first === '!') this.tenures.contended(text.slice(2 + this.#clientPrefix.length));
    else this.#queue.woken(rest.join(' '), { fence: first, isContended: second === '1' });
  }

  #missed(): void {
    this.tenures.allContended();
    this.#queue.standAgain();
  }
}
