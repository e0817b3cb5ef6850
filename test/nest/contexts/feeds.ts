import { type Lock, LockService } from 'nest-holdfast';
import { concatMap, defer, from, type Observable, share, throwError } from 'rxjs';
import { observableOnceLocked } from '../../../lib/nest/transports/locked-stream.js';
import { Insider, type Insiders } from './insiders.js';
import type { Key } from './programs.js';

/** Locked Observables that all requests of a process share, one for each key. */
export class Feeds {
  readonly #locks: LockService;
  readonly #insiders: Insiders;
  readonly #pause: () => Promise<void>;
  readonly #feeds = new Map<Key, Observable<number>>();
  readonly #own = new WeakSet<Lock>();

  constructor(locks: LockService, insiders: Insiders, pause: () => Promise<void>) {
    this.#locks = locks;
    this.#insiders = insiders;
    this.#pause = pause;
  }

  of(key: Key): Observable<number> {
    let feed = this.#feeds.get(key);
    if (!feed) this.#feeds.set(key, (feed = this.#locked(key).pipe(share())));
    return feed;
  }

  /** Whether a lock is that of a feed, which none of its subscribers owns. */
  has(lock: Lock): boolean {
    return this.#own.has(lock);
  }

  #locked(key: Key): Observable<number> {
    return observableOnceLocked(
      (signal) => this.#locks.enter(key, { signal, waitTimeout: 500 }),
      ({ lock }) => this.#rows(key, lock),
      (error) => throwError(() => error),
    );
  }

  #rows(key: Key, lock: Lock): Observable<number> {
    const insider = new Insider(lock, { keys: [key], isReader: false, reentrant: false });
    insider.hasReleased = true; // at its end, which no event tells
    this.#own.add(lock);
    return defer(() => {
      this.#insiders.enter(insider);
      return from([1, 2]).pipe(concatMap((row) => this.#pause().then(() => row)));
    });
  }
}
