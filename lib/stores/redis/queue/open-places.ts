import { LinkedQueue } from '../../../core/queue/linked-queue.js';
import type { Place } from './queue-place.js';

/** The open places of one store in the server's lines, by value and by lock, in the order in which they were added. */
export class OpenPlaces {
  readonly #byValue = new Map<string, Place>();
  readonly #byLock = new Map<string, LinkedQueue<Place>>();

  all(): Iterable<Place> {
    return this.#byValue.values();
  }

  get(value: string): Place | undefined {
    return this.#byValue.get(value);
  }

  has(place: Place): boolean {
    return this.#byValue.get(place.value) === place;
  }

  /** Those in the line of `lock`. */
  ofLock(lock: string): readonly Place[] {
    return this.#byLock.get(lock)?.list() ?? [];
  }

  /** The first in the line of `lock` that is as `isMeant` says. */
  find(lock: string, isMeant: (place: Place) => boolean): Place | undefined {
    let place = this.#byLock.get(lock)?.first;
    while (place && !isMeant(place)) place = place.behind;
    return place;
  }

  add(place: Place): void {
    const lock = place.keys[0]!;
    this.#byValue.set(place.value, place);
    let line = this.#byLock.get(lock);
    if (!line) this.#byLock.set(lock, (line = new LinkedQueue()));
    line.add(place);
  }

  /** Of a place that is not open: does nothing. */
  remove(place: Place): void {
    if (!this.has(place)) return;
    const lock = place.keys[0]!;
    this.#byValue.delete(place.value);
    const line = this.#byLock.get(lock)!;
    line.remove(place);
    if (line.size === 0) this.#byLock.delete(lock);
  }
}
