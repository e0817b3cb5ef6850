import { systemClock } from '../../core/clock.js';
import { LockPermitsError } from '../../core/lock-errors.js';
import { TimerQueue, idleTimer } from '../../core/timer-queue.js';
import type { QueuedTimer } from '../../core/timer-queue.js';
import type { Held } from './held.js';
import { LEAVE, WAIT } from './queue-scripts.js';
import { asStanding } from './queue-standing.js';
import type { Standing } from './queue-standing.js';
import { asList } from './replies.js';
import type { ScriptRunner } from './script-runner.js';
import { TurnCalls } from './turn-calls.js';

/** Milliseconds that the server takes a waiter for alive after it was last heard of. */
const HEARTBEAT = 2_000;
/** Milliseconds between two signs of life: less than a claim lasts, so that nobody misses the end of one. */
const BEAT = HEARTBEAT / 3;
/** Milliseconds that a key is kept for a waiter until it answers. */
const LONGEST_CLAIM = 1_000;
/** Milliseconds after the end of a ttl at which the first in line looks whether the key is free. */
const LOOK_AFTER = 3;
/** The ones behind look so much later each, in case that the first one is dead. */
const LOOK_APART = 10;
const LATEST_LOOK = 60;
/** A server that fails so often in a row is reported to those who wait. */
const MOST_FAILURES = 3;
/** Milliseconds for which a Cluster may have no master for a key: it takes `cluster-node-timeout`, 15 s, and an election. */
const LONGEST_FAILOVER = 30_000;

/** Its keys are a lock, its counter, its queue and the set of those who share it. */
interface Place extends Held {
  readonly claim: number;
  readonly granted: () => void;
  readonly refused: (error: unknown) => void;
  /** Its next sign of life. */
  readonly timer: QueuedTimer;
  failures: number;
  failingSince: number;
  hasStood: boolean;
  hasLeft: boolean;
}

/**
 * The callers of one store that stand in line on the server. Their signs of life leave together, and the same call looks
 * whether the key is free or has been handed over already: a lost wake-up costs a beat, and not a ttl.
 */
export class RedisQueue {
  readonly #runner: ScriptRunner;
  readonly #timers = new TimerQueue(systemClock);
  readonly #places = new Map<string, Place>();
  readonly #due: TurnCalls<Place>;

  /** `slotOf` keeps apart what cannot share a call. */
  constructor(runner: ScriptRunner, slotOf: (lock: string) => number) {
    this.#runner = runner;
    this.#due = new TurnCalls(
      ({ keys }) => slotOf(keys[0]!),
      (places) => void this.#call(places),
    );
  }

  /**
   * Resolves when the key has been handed over. Rejects with `signal.reason`, and has left the line by then; with
   * `LockPermitsError` where the key is in use with other permits.
   */
  wait(held: Held, signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const leave = () => void this.#leave(place).then(() => reject(signal.reason));
      const place: Place = {
        ...held,
        claim: Math.min(held.request.ttl, LONGEST_CLAIM),
        timer: idleTimer(() => this.#due.add(place)),
        failures: 0,
        failingSince: 0,
        hasStood: false,
        hasLeft: false,
        granted: () => {
          signal.removeEventListener('abort', leave);
          resolve();
        },
        refused: (error) => {
          signal.removeEventListener('abort', leave);
          reject(error);
        },
      };
      signal.addEventListener('abort', leave, { once: true });
      this.#places.set(place.value, place);
      this.#due.add(place);
    });
  }

  /** The server has handed a key over to `value`. */
  woken(value: string): void {
    const place = this.#places.get(value);
    if (place) this.#grant(place);
  }

  /** Wake-ups may have been missed, and the server may have passed over somebody who could not be woken. */
  standAgain(): void {
    for (const place of this.#places.values()) this.#due.add(place);
  }

  /** Nobody can be woken. */
  refuseAll(error: unknown): void {
    for (const place of this.#places.values()) this.#refuse(place, error);
  }

  /** Never rejects. */
  async #call(due: readonly Place[]): Promise<void> {
    const places = due.filter((place) => this.#isOpen(place));
    if (places.length === 0) return;
    const keys = places.flatMap((place) => place.keys);
    const args = [HEARTBEAT, ...places.flatMap(({ value, claim }) => [value, claim])];
    try {
      const answers = await this.#runner.run(WAIT, keys, args, (reply) =>
        asList(reply, places.length),
      );
      places.forEach((place, index) => this.#answered(place, answers[index]));
    } catch (error) {
      for (const place of places) this.#failed(place, error);
    }
  }

  #answered(place: Place, answer: unknown): void {
    if (place.hasLeft) void this.#leave(place); // in case that this call came in after its LEAVE
    if (!this.#isOpen(place)) return; // it was woken or has left meanwhile: this answer is from before
    let standing: Standing;
    try {
      standing = asStanding(answer);
    } catch (error) {
      return this.#failed(place, error);
    }
    if (standing.state === 'handed over') return this.#grant(place);
    if (standing.state === 'refused') return this.#refuse(place, otherPermits(place, standing));
    place.hasStood = true;
    place.failures = 0;
    this.#standAt(place, lookTime(standing.ttl, standing.inFront));
  }

  #failed(place: Place, error: unknown): void {
    if (!this.#isOpen(place)) return;
    if (place.failures++ === 0) place.failingSince = systemClock.now();
    if (place.hasStood && isBearable(place, error)) return this.#standAt(place, nextBeat());
    this.#refuse(place, error);
  }

  #refuse(place: Place, error: unknown): void {
    void this.#leave(place);
    place.refused(error);
  }

  #standAt(place: Place, due: number): void {
    this.#timers.move(place.timer, Math.min(due, nextBeat()));
  }

  #grant(place: Place): void {
    this.#close(place);
    place.granted();
  }

  /** Never rejects: a place that cannot be left is passed over after its heartbeat. */
  async #leave(place: Place): Promise<void> {
    place.hasLeft = true;
    this.#close(place);
    await this.#runner
      .run(LEAVE, place.keys, [place.value], () => undefined)
      .catch(() => undefined);
  }

  #close(place: Place): void {
    this.#timers.remove(place.timer);
    if (this.#isOpen(place)) this.#places.delete(place.value);
  }

  #isOpen(place: Place): boolean {
    return this.#places.get(place.value) === place;
  }
}

function otherPermits(
  { request: { key, permits } }: Place,
  { inUse }: { readonly inUse: number },
): LockPermitsError {
  return new LockPermitsError(key, permits!, inUse);
}

/** Whether to go on standing in line after a failure. */
function isBearable({ failures, failingSince }: Place, error: unknown): boolean {
  if (failures < MOST_FAILURES) return true;
  const isFailover = error instanceof Error && error.message.startsWith('Too many Cluster');
  return isFailover && systemClock.now() - failingSince < LONGEST_FAILOVER;
}

/** All places of a process are due together. */
function nextBeat(): number {
  return (Math.floor(systemClock.now() / BEAT) + 1) * BEAT;
}

/** When a lock that lives for `ttl` more milliseconds can have run out. Negative: it has no ttl. */
function lookTime(ttl: number, inFront: number): number {
  if (ttl < 0) return Infinity;
  return systemClock.now() + ttl + LOOK_AFTER + Math.min(inFront * LOOK_APART, LATEST_LOOK);
}
