import { AsyncLocalStorage } from 'node:async_hooks';
import { Observable, Subscription } from 'rxjs';
import { LockedIterator } from './locked-iterator.js';
import type { CallScope } from './locked-iterator.js';

/**
 * Subscribes to `source` under the lock and leaves the scope when it ends, fails, is unsubscribed, or the lock is lost. The
 * source runs in the context that holds the lock; the subscriber hears of it in its own, for what it does is no part of the work.
 */
export function lockedObservable<T>(scope: CallScope, source: () => Observable<T>): Observable<T> {
  return new Observable((subscriber) => {
    const inOwnContext = AsyncLocalStorage.snapshot();
    const { signal } = scope.lock;
    const onLost = () => inOwnContext(() => subscriber.error(signal.reason));
    const end = async (finish: () => void) => {
      await scope.leave();
      inOwnContext(finish);
    };
    const inner = new Subscription();
    signal.addEventListener('abort', onLost, { once: true });
    subscriber.add(() => {
      signal.removeEventListener('abort', onLost);
      try {
        scope.run(() => inner.unsubscribe());
      } finally {
        void scope.leave(); // never rejects
      }
    });
    if (signal.aborted) return onLost();
    const subscribed = scope.run(() =>
      source().subscribe({
        next: (value) => inOwnContext(() => subscriber.next(value)),
        error: (error: unknown) => void end(() => subscriber.error(error)),
        complete: () => void end(() => complete(scope, subscriber)),
      }),
    );
    inner.add(subscribed);
  });
}

function complete(
  scope: CallScope,
  subscriber: { complete(): void; error(e: unknown): void },
): void {
  try {
    scope.assertKept(undefined);
    subscriber.complete();
  } catch (error) {
    subscriber.error(error);
  }
}

/** As `lockedObservable`, for a lock that is taken at subscription. To unsubscribe meanwhile ends the wait. */
export function observableOnceLocked<T, Scope extends CallScope>(
  enter: (unsubscribed: AbortSignal) => Promise<Scope>,
  source: (scope: Scope) => Observable<T>,
  instead: (error: unknown) => Observable<T>,
): Observable<T> {
  return new Observable((subscriber) => {
    const unsubscribed = new AbortController();
    subscriber.add(() => unsubscribed.abort());
    enter(unsubscribed.signal).then(
      (scope) => {
        if (subscriber.closed)
          void scope.leave(); // never rejects
        else subscriber.add(lockedObservable(scope, () => source(scope)).subscribe(subscriber));
      },
      (error: unknown) => {
        if (!subscriber.closed) subscriber.add(instead(error).subscribe(subscriber));
      },
    );
  });
}

/** As `yield*` of the source, under the lock. Leaves the scope when it ends. */
export async function* lockedIterable<T>(
  scope: CallScope,
  source: () => AsyncIterable<T>,
): AsyncGenerator<T, unknown, unknown> {
  try {
    return yield* new LockedIterator(
      scope,
      scope.run(() => source()[Symbol.asyncIterator]()),
    );
  } finally {
    await scope.leave();
  }
}
