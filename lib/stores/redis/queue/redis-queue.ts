import { idleTimer } from '../../../core/async/timer-queue.js';
import type { NamedLock } from '../keys/named-lock.js';
import { LEAVE } from '../lua/queue-scripts.js';
import type { ScriptRunner } from '../send/script-runner.js';
import { Heartbeats } from './heartbeats.js';
import { OpenPlaces } from './open-places.js';
import { newPlace, whySilent } from './queue-place.js';
import type { HandedOff, Place } from './queue-place.js';
import { isShared } from '../../../core/sharing/hold-mode.js';

/**
 * The waiters of one store in the server's lines. Their heartbeats leave together, and the same call looks whether the key is
 * free or has been handed off already: a lost wake-up costs a heartbeat interval, and not a ttl.
 */
export class RedisQueue {
  readonly #runner: ScriptRunner;
  readonly #row: number;
  readonly #places = new OpenPlaces();
  readonly #heartbeats: Heartbeats;

  /** `slotOf` separates keys that cannot share a call. `asking` is called with each heartbeat, `row` is that of all places. */
  constructor(
    runner: ScriptRunner,
    slotOf: (lock: string) => number,
    asking: () => void,
    row: number,
  ) {
    this.#runner = runner;
    this.#row = row;
    this.#heartbeats = new Heartbeats(runner, slotOf, asking, {
      isOpen: (place) => this.#places.has(place),
      // The reply to the release that did so may have come with it, and brings a fencing token: that one is read first.
      handedOff: (place) => void setImmediate(() => this.woken(place.value)),
      refused: (place, error) => this.#refuse(place, error),
      answeredLate: (place) => void this.#leave(place),
    });
  }

  /**
   * Resolves when the key has been handed off, without a value for a claim. Rejects with `signal.reason`, and has left the line
   * by then; with `LockPermitsError` where the key is in use with other permits. `arrivedAt`: when the caller asked.
   */
  wait(held: NamedLock, signal: AbortSignal, arrivedAt: number): Promise<HandedOff | undefined> {
    return new Promise((resolve, reject) => {
      const ended =
        <Value>(settle: (value: Value) => void) =>
        (value: Value) => {
          signal.removeEventListener('abort', leave);
          settle(value);
        };
      const leave = () => void this.#leave(place).then(() => reject(signal.reason));
      const place = newPlace(held, {
        row: this.#row,
        arrivedAt,
        timer: idleTimer(() => this.#heartbeats.wake(place)),
        granted: ended(resolve),
        refused: ended(reject),
      });
      signal.addEventListener('abort', leave, { once: true });
      this.#places.add(place);
      this.#heartbeats.send(place);
    });
  }

  /** The last failure of the waiter with `value`, or its long silence, until the server answers it. */
  failure(value: string): unknown {
    const place = this.#places.get(value);
    return place && (place.error ?? whySilent(place));
  }

  /** The next heartbeat may be too late for the waiter with `value`. */
  askFor(value: string): void {
    const place = this.#places.get(value);
    if (place && !place.isAsking) this.#heartbeats.send(place);
  }

  /** The server has handed a key over to `value`. */
  woken(value: string): void {
    const place = this.#places.get(value);
    if (place) this.#grant(place);
  }

  /** The lock is the waiter's. `false`: there is none with `value`. */
  handedOff(value: string, how: HandedOff): boolean {
    const place = this.#places.get(value);
    if (!place) return false;
    this.#close(place);
    place.granted(how);
    return true;
  }

  /** There is a waiter for `lock`, and the server has answered its last heartbeat, or is asked for the first time. */
  isAwaited(lock: string): boolean {
    const isLiving = (place: Place) => place.error === undefined && !whySilent(place);
    return this.#places.find(lock, isLiving) !== undefined;
  }

  /** The ttl that the first waiter for `lock` wants of it. Missing: there is none but sharers. */
  nextTtl(lock: string): number | undefined {
    return this.#places.find(lock, ({ request }) => !isShared(request.permits))?.request.ttl;
  }

  /** One of the waiters for `lock` may have it. */
  look(lock: string): void {
    for (const place of this.#places.ofLock(lock)) this.#heartbeats.send(place);
  }

  /** `value` has come to the front, where its last heartbeat is soon too old. */
  calledUp(value: string): void {
    const place = this.#places.get(value);
    if (place) this.#heartbeats.send(place); // also during a call: its answer may be from further back
  }

  /** Wake-ups may have been missed, and the server may have passed over a waiter that it could not wake. */
  standAgain(): void {
    for (const place of this.#places.all()) this.#heartbeats.send(place);
  }

  /** The server cannot wake any waiter. */
  refuseAll(error: unknown): void {
    for (const place of this.#places.all()) this.#refuse(place, error);
  }

  #refuse(place: Place, error: unknown): void {
    void this.#leave(place);
    place.refused(error);
  }

  #grant(place: Place): void {
    this.#close(place);
    place.granted();
  }

  /** Never rejects: the server passes over a place that cannot be left after its heartbeat. */
  async #leave(place: Place): Promise<void> {
    place.hasLeft = true;
    this.#close(place);
    await this.#runner
      .run(LEAVE, place.keys, [place.value, place.claim], () => undefined)
      .catch(() => undefined);
  }

  #close(place: Place): void {
    this.#heartbeats.stop(place);
    this.#places.remove(place);
  }
}
