import { Observable } from 'rxjs';
import type { LockScope } from '../../core/lock-scope.js';

/** Subscribes to `source` under the lock and leaves the scope when it ends, fails, is unsubscribed, or the lock is lost. */
export function lockedObservable<T>(scope: LockScope, source: () => Observable<T>): Observable<T> {
  return new Observable((subscriber) => {
    const { signal } = scope.lock;
    const onLost = () => subscriber.error(signal.reason);
    signal.addEventListener('abort', onLost, { once: true });
    subscriber.add(() => {
      signal.removeEventListener('abort', onLost);
      void scope.leave(); // never rejects
    });
    if (signal.aborted) return onLost();
    const end = async (finish: () => void) => {
      await scope.leave();
      finish();
    };
    const inner = scope.run(() =>
      source().subscribe({
        next: (value) => subscriber.next(value),
        error: (error: unknown) => void end(() => subscriber.error(error)),
        complete: () => void end(() => complete(scope, subscriber)),
      }),
    );
    subscriber.add(inner);
  });
}

function complete(
  scope: LockScope,
  subscriber: { complete(): void; error(e: unknown): void },
): void {
  try {
    scope.assertKept(undefined);
    subscriber.complete();
  } catch (error) {
    subscriber.error(error);
  }
}

/** As `lockedObservable`, for a lock that is taken at subscription. Whoever unsubscribes while it is awaited ends the wait. */
export function observableOnceLocked<T>(
  enter: (unsubscribed: AbortSignal) => Promise<LockScope>,
  source: (scope: LockScope) => Observable<T>,
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

/** Iterates under the lock: each step runs in the context that holds it, and fails once it is lost. */
export async function* lockedIterable<T>(
  scope: LockScope,
  source: () => AsyncIterable<T>,
): AsyncGenerator<T, unknown, unknown> {
  try {
    return yield* lockedSteps(
      scope,
      scope.run(() => source()[Symbol.asyncIterator]()),
    );
  } finally {
    await scope.leave();
  }
}

/** As `yield*`, with each step in the context of the lock. */
async function* lockedSteps<T>(
  scope: LockScope,
  iterator: AsyncIterator<T, unknown>,
): AsyncGenerator<T, unknown, unknown> {
  let resume: () => Promise<IteratorResult<T, unknown>> = () => iterator.next();
  let isDone = false;
  try {
    for (;;) {
      isDone = true; // an iterator that throws is finished
      const step = await scope.run(resume);
      isDone = step.done === true;
      scope.assertKept(step.value);
      if (step.done) return step.value;
      try {
        const sent: unknown = yield step.value;
        resume = () => iterator.next(sent);
      } catch (error) {
        resume = () => raiseInside(iterator, error);
      }
    }
  } finally {
    if (!isDone) await scope.run(async () => iterator.return?.());
  }
}

async function raiseInside<T>(
  iterator: AsyncIterator<T, unknown>,
  error: unknown,
): Promise<IteratorResult<T, unknown>> {
  if (iterator.throw) return iterator.throw(error);
  await iterator.return?.();
  throw error;
}
