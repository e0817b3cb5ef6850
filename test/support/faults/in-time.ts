/** Milliseconds. */
const TICK = 20;

/**
 * Resolves as `promise` does; rejects when that takes longer than `ms`. It counts ticks of the event loop that it shares with the
 * promise: one that comes late, because the machine was busy or stood still, counts as one.
 */
export async function inTime<T>(ms: number, promise: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    let left = ms;
    timer = setInterval(() => {
      left -= TICK;
      if (left <= 0) reject(new Error(`Not settled within ${ms} ms`));
    }, TICK);
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearInterval(timer);
  }
}

/** Resolves when `signal` aborts. */
export function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve();
    signal.addEventListener('abort', () => resolve(), { once: true });
  });
}
