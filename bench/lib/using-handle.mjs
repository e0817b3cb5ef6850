/**
 * Libraries that renew inside a `using(routine)` only: a held lock is then a routine that waits until `release()` is called.
 * `using` takes the routine, which gets an AbortSignal that tells of a lost lock.
 */
export function usingHandle(using, onLost) {
  return new Promise((resolve, reject) => {
    const routine = (signal) => {
      signal.addEventListener('abort', onLost);
      return new Promise((finish) => {
        const release = () => {
          finish();
          return done;
        };
        resolve({ release });
      });
    };
    const done = using(routine);
    done.catch(reject); // no longer heard once it is held; release() then rejects with it
  });
}
