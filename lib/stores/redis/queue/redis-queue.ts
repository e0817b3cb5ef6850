import { systemClock } from '../../../core/async/clock.js';
import { LockPermitsError } from '../../../core/contract/lock-errors.js';
import { TimerQueue, idleTimer } from '../../../core/async/timer-queue.js';
import { isOfOneKey } from '../../../redis-client/driver-error.js';
import type { NamedLock } from '../keys/named-lock.js';
import { OpenPlaces } from './open-places.js';
import { answerTime, isBearable, noAnswer, placeWord, whySilent } from './queue-place.js';
import type { HandedOver, Place } from './queue-place.js';
import { LEAVE, WAIT } from '../lua/queue-scripts.js';
import { asStanding } from './queue-standing.js';
import type { Standing } from './queue-standing.js';
import { HEARTBEAT, LONGEST_CLAIM, lookTime, nextBeat } from '../lua/pace.js';
import { asList } from '../lua/replies.js';
import type { ScriptRunner } from '../send/script-runner.js';
import { CallBatcher } from '../send/call-batcher.js';

/**
 * The waiters of one store in the server's lines. Their heartbeats leave together, and the same call looks whether the key is
 * free or has been handed over already: a lost wake-up costs a heartbeat interval, and not a ttl.
 */
export class RedisQueue {
  readonly #runner: ScriptRunner;
  readonly #asking: () => void;
  readonly #row: number;
  readonly #timers = new TimerQueue(systemClock);
  readonly #places = new OpenPlaces();
  readonly #due: CallBatcher<Place>;

  /** `slotOf` separates keys that cannot share a call. `asking` is called with each heartbeat, `row` is that of all places. */
  constructor(
    runner: ScriptRunner,
    slotOf: (lock: string) => number,
    asking: () => void,
    row: number,
  ) {
    this.#runner = runner;
    this.#row = row;
    this.#asking = asking;
    this.#due = new CallBatcher(
      ({ keys }) => slotOf(keys[0]!),
      (places) => void this.#call(places),
    );
  }

  /**
   * Resolves when the key has been handed over, without a value for a claim. Rejects with `signal.reason`, and has left the line
   * by then; with `LockPermitsError` where the key is in use with other permits. `arrivedAt`: when the caller asked.
   */
  wait(held: NamedLock, signal: AbortSignal, arrivedAt: number): Promise<HandedOver | undefined> {
    return new Promise((resolve, reject) => {
      const leave = () => void this.#leave(place).then(() => reject(signal.reason));
      const place: Place = {
        ...held,
        claim: Math.min(held.request.ttl, LONGEST_CLAIM),
        row: this.#row,
        behind: this.#places.lastOf(held.keys[0]!),
        arrivedAt,
        timer: idleTimer(() => this.#wake(place)),
        isAsking: false,
        askedAt: 0,
        failures: 0,
        error: undefined,
        failingSince: 0,
        hasStood: false,
        hasLeft: false,
        granted: (how) => {
          signal.removeEventListener('abort', leave);
          resolve(how);
        },
        refused: (error) => {
          signal.removeEventListener('abort', leave);
          reject(error);
        },
      };
      signal.addEventListener('abort', leave, { once: true });
      this.#places.add(place);
      this.#due.add(place);
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
    if (place && !place.isAsking) this.#due.add(place);
  }

  /** The server has handed a key over to `value`. */
  woken(value: string): void {
    const place = this.#places.get(value);
    if (place) this.#grant(place);
  }

  /** The lock is the waiter's. `false`: there is none with `value`. */
  handedOver(value: string, how: HandedOver): boolean {
    const place = this.#places.get(value);
    if (!place) return false;
    this.#close(place);
    place.granted(how);
    return true;
  }

  /** There is a waiter for `lock`, and the server has answered its last heartbeat, or is asked for the first time. */
  isAwaited(lock: string): boolean {
    for (const place of this.#places.ofLock(lock) ?? [])
      if (place.error === undefined && !whySilent(place)) return true;
    return false;
  }

  /** The ttl that the first waiter for `lock` wants of it. Missing: there is none but sharers. */
  nextTtl(lock: string): number | undefined {
    for (const { request } of this.#places.ofLock(lock) ?? [])
      if (request.permits === undefined) return request.ttl;
    return undefined;
  }

  /** One of the waiters for `lock` may have it. */
  look(lock: string): void {
    for (const place of this.#places.ofLock(lock) ?? []) this.#due.add(place);
  }

  /** `value` has come to the front, where its last heartbeat is soon too old. */
  calledUp(value: string): void {
    const place = this.#places.get(value);
    if (place) this.#due.add(place); // also during a call: its answer may be from further back
  }

  /** Wake-ups may have been missed, and the server may have passed over a waiter that it could not wake. */
  standAgain(): void {
    for (const place of this.#places.all()) this.#due.add(place);
  }

  /** The server cannot wake any waiter. */
  refuseAll(error: unknown): void {
    for (const place of this.#places.all()) this.#refuse(place, error);
  }

  /** The next heartbeat is due, or the last one was not answered in time. */
  #wake(place: Place): void {
    if (!place.isAsking) return this.#due.add(place);
    this.#failed(place, noAnswer(answerTime(place)));
  }

  /** Never rejects. */
  async #call(due: readonly Place[]): Promise<void> {
    const places = due.filter((place) => this.#isOpen(place));
    if (places.length === 0) return;
    const keys = places.flatMap((place) => place.keys);
    for (const place of places) this.#ask(place);
    this.#asking();
    const args = [
      HEARTBEAT,
      ...places.flatMap((place, index) => [place.value, placeWord(place, places[index - 1])]),
    ];
    try {
      const answers = await this.#runner.run(WAIT, keys, args, (reply) =>
        asList(reply, places.length),
      );
      places.forEach((place, index) => this.#answered(place, answers[index]));
    } catch (error) {
      if (places.length > 1 && isOfOneKey(error))
        places.forEach((place) => void this.#call([place]));
      else for (const place of places) this.#failed(place, error);
    }
  }

  #ask(place: Place): void {
    place.isAsking = true;
    place.askedAt = systemClock.now();
    this.#timers.move(place.timer, place.askedAt + answerTime(place));
  }

  #answered(place: Place, answer: unknown): void {
    if (place.hasLeft) void this.#leave(place); // in case that this call arrived after its LEAVE
    if (!this.#isOpen(place)) return; // it was woken or has left meanwhile: this answer is outdated
    place.isAsking = false;
    let standing: Standing;
    try {
      standing = asStanding(answer);
    } catch (error) {
      return this.#failed(place, error);
    }
    if (standing.state === 'handed over') return this.#grant(place);
    if (standing.state === 'refused') {
      const { key, permits } = place.request;
      return this.#refuse(place, new LockPermitsError(key, permits!, standing.inUse));
    }
    place.hasStood = true;
    place.failures = 0;
    place.error = undefined;
    const { ttl, inFront } = standing;
    this.#timers.move(place.timer, Math.min(lookTime(ttl, inFront), nextBeat(inFront, place.row)));
  }

  #failed(place: Place, error: unknown): void {
    if (!this.#isOpen(place)) return;
    place.isAsking = false;
    place.error = error;
    if (place.failures++ === 0) place.failingSince = systemClock.now();
    if (place.hasStood && isBearable(place, error))
      return this.#timers.move(place.timer, nextBeat());
    this.#refuse(place, error);
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
    this.#timers.remove(place.timer);
    this.#places.remove(place);
  }

  #isOpen(place: Place): boolean {
    return this.#places.has(place);
  }
}
