import { systemClock } from '../../../core/async/clock.js';
import { clientKeyPrefix } from '../../../redis-client/redis-client.js';
import type { SubscribableClient } from '../../../redis-client/redis-client.js';
import type { WatchedConnection } from '../../../redis-client/silence-watch.js';
import type { NamedLock } from '../keys/named-lock.js';
import { ASKED, LATER, REVOKED } from '../evict/evict-script.js';
import type { RedisEvictions } from '../evict/redis-evictions.js';
import { FreeMoments } from './free-moments.js';
import { CALL_UP } from '../lua/line-parts.js';
import type { HandedOff } from './queue-place.js';
import { ROW, STRICT_ROW } from '../lua/pace.js';
import { RedisQueue } from './redis-queue.js';
import { CHANNEL } from '../lua/hand-off.js';
import type { ScriptRunner } from '../send/script-runner.js';
import { StrictQueue } from './strict-queue.js';
import type { LockCalls } from '../send/lock-calls.js';
import { LocalHandoffs } from './local-handoffs.js';
import { WakeUpChannel } from './wake-up-channel.js';

/** The server's messages to one store: keys handed off to its waiters, and other processes waiting for its locks. */
export class RedisWaiters {
  readonly handoffs: LocalHandoffs;
  readonly freeMoments: FreeMoments;
  /** Missing where a process may pass a lock on to its own callers. */
  readonly strictQueue: StrictQueue | undefined;
  /** Gets messages about holders that are evicted. */
  evictions: Pick<RedisEvictions, 'heard' | 'asked' | 'answered'> | undefined;
  readonly #queue: RedisQueue;
  readonly #wakeUps: WakeUpChannel;
  readonly #clientPrefix: string;

  constructor(
    client: SubscribableClient,
    id: string,
    runner: ScriptRunner,
    slotOf: (lock: string) => number,
    localPassLimit: number,
    yieldEvery: number,
    lockCalls: () => LockCalls,
  ) {
    this.#clientPrefix = clientKeyPrefix(client);
    this.#wakeUps = new WakeUpChannel(client, CHANNEL + id, {
      message: (text) => this.#message(text),
      missed: () => this.#missed(),
      refused: (error) => this.#queue.refuseAll(error),
    });
    const row = localPassLimit === 0 ? STRICT_ROW : ROW;
    this.#queue = new RedisQueue(runner, slotOf, () => this.#wakeUps.check(), row);
    if (localPassLimit === 0) this.strictQueue = new StrictQueue(this.#queue, lockCalls);
    this.freeMoments = new FreeMoments(runner, yieldEvery);
    this.handoffs = new LocalHandoffs(this.#wakeUps, this.freeMoments, localPassLimit);
  }

  /**
   * Waits in line. Resolves when the key has been handed off, without a value for a claim. Rejects with `signal.reason` once the line has been left, with
   * `LockPermitsError` where the key is in use with other permits.
   */
  async wait(held: NamedLock, signal: AbortSignal): Promise<HandedOff | undefined> {
    const arrivedAt = this.strictQueue?.arrivalOf(held.request) ?? systemClock.now();
    if (!this.#wakeUps.isLive) await this.#wakeUps.open();
    await this.freeMoments.over(held.keys[0]!, signal);
    signal.throwIfAborted();
    return this.#queue.wait(held, signal, arrivedAt);
  }

  /** Messages to this store arrive from now on. Returns whether they do already. */
  listen(): boolean {
    const { isLive } = this.#wakeUps;
    if (!isLive) this.#wakeUps.open().catch(() => undefined); // refused: holders hear at their next extension
    return isLive;
  }

  /** Why the state of the waiter with `value` is unknown: the server has not answered since. */
  failure(value: string): unknown {
    return this.#queue.failure(value);
  }

  /** Asks the server for a sign of life, for the waiter with `value`; `failure` then knows the outcome. */
  askFor(value: string): void {
    this.#queue.askFor(value);
  }

  /** Besides those of the client. */
  get connections(): readonly WatchedConnection[] {
    return this.#wakeUps.connections;
  }

  close(): void {
    this.freeMoments.close();
    this.#wakeUps.close();
  }

  #message(text: string): void {
    if (text.startsWith('! ')) this.handoffs.contended(text.slice(2 + this.#clientPrefix.length));
    else if (text.startsWith(REVOKED)) this.evictions?.heard(text);
    else if (text.startsWith(ASKED)) this.evictions?.asked(text);
    else if (text.startsWith(LATER)) this.evictions?.answered(text);
    else if (text.startsWith(CALL_UP)) this.#queue.calledUp(text.slice(CALL_UP.length));
    else this.#queue.woken(text);
  }

  #missed(): void {
    this.handoffs.doubtAll();
    this.#queue.standAgain();
  }
}
