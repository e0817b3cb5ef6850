import { sleep } from '../core/async/sleep.js';
import type { Clock } from '../core/async/clock.js';

/** Milliseconds between two questions whether the store still answers: a candidate may stand in the queue for days. */
const EVERY = 5_000;

/**
 * Calls `failed` each time that the store does not answer `ask`, until `signal` aborts, or for good when an error has no cause: the
 * store cannot be asked then. Never rejects.
 */
export async function watchStore(
  clock: Clock,
  ask: () => Promise<unknown>,
  failed: (error: unknown) => void,
  signal: AbortSignal,
): Promise<void> {
  for (;;) {
    await sleep(clock, EVERY, signal, true);
    if (signal.aborted) return;
    try {
      await ask();
    } catch (error) {
      if (signal.aborted || (error as Error | null)?.cause === undefined) return;
      failed(error);
    }
  }
}
