import { systemClock } from '../../../core/async/clock.js';
import { TimerQueue } from '../../../core/async/timer-queue.js';
import { LockPermitsError } from '../../../core/contract/lock-errors.js';
import { isOfOneKey } from '../../../redis-client/driver-error.js';
import { lookTime, nextBeat } from '../lua/pace.js';
import { WAIT } from '../lua/queue-scripts.js';
import { asList } from '../lua/replies.js';
import { CallBatcher } from '../send/call-batcher.js';
import type { ScriptRunner } from '../send/script-runner.js';
import { answerTime, isBearable, noAnswer, noteAnswer, noteFailure, waitArgs } from './queue-place.js'; // prettier-ignore
import type { Place } from './queue-place.js';
import { asStanding } from './queue-standing.js';
import type { Standing } from './queue-standing.js';

/** The effects of answers on the places. */
interface HeartbeatEvents {
  isOpen(place: Place): boolean;
  /** The key is the waiter's. */
  handedOff(place: Place): void;
  /** The waiter cannot stay in line. */
  refused(place: Place, error: unknown): void;
  /** A place that was left is answered: its heartbeat may have arrived after its `LEAVE`. */
  answeredLate(place: Place): void;
}

/** The heartbeats of the waiters of one store, which leave together. */
export class Heartbeats {
  readonly #runner: ScriptRunner;
  readonly #asking: () => void;
  readonly #events: HeartbeatEvents;
  readonly #timers = new TimerQueue(systemClock);
  readonly #due: CallBatcher<Place>;

  /** `slotOf` separates keys that cannot share a call. `asking` is called with each call. */
  constructor(
    runner: ScriptRunner,
    slotOf: (lock: string) => number,
    asking: () => void,
    events: HeartbeatEvents,
  ) {
    this.#runner = runner;
    this.#asking = asking;
    this.#events = events;
    this.#due = new CallBatcher(
      ({ keys }) => slotOf(keys[0]!),
      (places) => void this.#call(places),
    );
  }

  /** With the next call. */
  send(place: Place): void {
    this.#due.add(place);
  }

  stop(place: Place): void {
    this.#timers.remove(place.timer);
  }

  /** The timer of a place: its next heartbeat is due, or the last one was not answered in time. */
  wake(place: Place): void {
    if (!place.isAsking) return this.#due.add(place);
    this.#failed(place, noAnswer(answerTime(place)));
  }

  /** Never rejects. */
  async #call(due: readonly Place[]): Promise<void> {
    const places = due.filter((place) => this.#events.isOpen(place));
    if (places.length === 0) return;
    const keys = places.flatMap((place) => place.keys);
    for (const place of places) this.#ask(place);
    this.#asking();
    const read = (reply: unknown) => asList(reply, places.length);
    try {
      const answers = await this.#runner.run(WAIT, keys, waitArgs(places), read);
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
    if (place.hasLeft) this.#events.answeredLate(place); // in case that this call arrived after its LEAVE
    if (!this.#events.isOpen(place)) return; // it was woken or has left meanwhile: this answer is outdated
    place.isAsking = false;
    let standing: Standing;
    try {
      standing = asStanding(answer);
    } catch (error) {
      return this.#failed(place, error);
    }
    if (standing.state === 'handed off') return this.#events.handedOff(place);
    if (standing.state === 'refused') {
      const { key, permits } = place.request;
      return this.#events.refused(place, new LockPermitsError(key, permits!, standing.inUse));
    }
    noteAnswer(place);
    const { ttl, inFront } = standing;
    this.#timers.move(place.timer, Math.min(lookTime(ttl, inFront), nextBeat(inFront, place.row)));
  }

  #failed(place: Place, error: unknown): void {
    if (!this.#events.isOpen(place)) return;
    noteFailure(place, error);
    if (place.hasStood && isBearable(place, error))
      return this.#timers.move(place.timer, nextBeat());
    this.#events.refused(place, error);
  }
}
