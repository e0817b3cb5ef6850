/** The state of a promise so far. */
export interface Outcome<T> {
  status: 'pending' | 'fulfilled' | 'rejected';
  value: T | undefined;
  error: unknown;
}

/** Follows a promise without waiting for it: the clock has to move before it can settle. */
export function watch<T>(promise: Promise<T>): Outcome<T> {
  const outcome: Outcome<T> = { status: 'pending', value: undefined, error: undefined };
  promise.then(
    (value) => Object.assign(outcome, { status: 'fulfilled', value }),
    (error: unknown) => Object.assign(outcome, { status: 'rejected', error }),
  );
  return outcome;
}

/** The error that a promise rejects with. */
export async function rejectionOf<E extends Error = Error>(promise: Promise<unknown>): Promise<E> {
  try {
    await promise;
  } catch (error) {
    return error as E;
  }
  throw new Error('expected a rejection');
}

/** The error that a call throws. */
export function errorOf(call: () => unknown): Error {
  try {
    call();
  } catch (error) {
    return error as Error;
  }
  throw new Error('expected an error');
}

export function deferred<T>(): {
  promise: Promise<T>;
  resolve: (value: T) => void;
  reject: (error: unknown) => void;
} {
  let resolve!: (value: T) => void;
  let reject!: (error: unknown) => void;
  const promise = new Promise<T>((yes, no) => {
    resolve = yes;
    reject = no;
  });
  return { promise, resolve, reject };
}

/** An answer that never comes. */
export function never<T>(): Promise<T> {
  return new Promise<T>(() => undefined);
}
