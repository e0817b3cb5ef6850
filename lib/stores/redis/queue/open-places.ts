import { entryOf } from './queue-place.js';
import type { Place } from './queue-place.js';

/** The open places of one store in the server's lines, by value and by lock, in the order in which they were added. */
export class OpenPlaces {
  readonly #byValue = new Map<string, Place>();
  readonly #byLock = new Map<string, Set<Place>>();
  /** As the server calls them. */
  readonly #lastOf = new Map<string, string>();

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
  ofLock(lock: string): ReadonlySet<Place> | undefined {
    return this.#byLock.get(lock);
  }

  /** Whether one of the places in the line of `lock` is as `isMeant` says. */
  some(lock: string, isMeant: (place: Place) => boolean): boolean {
    for (const place of this.#byLock.get(lock) ?? []) if (isMeant(place)) return true;
    return false;
  }

  /** The first in the line of `lock` that shares the lock with no other caller. */
  firstExclusive(lock: string): Place | undefined {
    for (const place of this.#byLock.get(lock) ?? [])
      if (place.request.permits === undefined) return place;
    return undefined;
  }

  /** The place that was added last for `lock`, as the server calls it. Missing: no place is open. */
  lastOf(lock: string): string | undefined {
    return this.#lastOf.get(lock);
  }

  add(place: Place): void {
    const lock = place.keys[0]!;
    this.#byValue.set(place.value, place);
    this.#lastOf.set(lock, entryOf(place));
    const ofLock = this.#byLock.get(lock);
    if (ofLock) ofLock.add(place);
    else this.#byLock.set(lock, new Set([place]));
  }

  /** Of a place that is not open: does nothing. */
  remove(place: Place): void {
    if (!this.has(place)) return;
    const lock = place.keys[0]!;
    this.#byValue.delete(place.value);
    const ofLock = this.#byLock.get(lock)!;
    ofLock.delete(place);
    if (ofLock.size > 0) return;
    this.#byLock.delete(lock);
    this.#lastOf.delete(lock);
  }
}
