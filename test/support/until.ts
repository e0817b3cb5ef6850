export interface UntilOptions {
  /** Milliseconds after which the wait fails, not counting those in which the machine stood still. @default 30_000 */
  readonly within?: number;
  /** Milliseconds between two looks. @default 5 */
  readonly every?: number;
  /** The condition in words, for the error message. */
  readonly what?: string;
}

/** Milliseconds that one look may take, of those that count: a longer one was held up by the machine. */
const LONGEST_LOOK = 1_000;

/**
 * Resolves with the first truthy value of `condition`. A condition that throws counts as "not yet"; its last error is
 * the cause of the failure when time is up.
 */
export async function until<T>(
  condition: () => T | Promise<T>,
  { within = 30_000, every = 5, what = condition.toString() }: UntilOptions = {},
): Promise<NonNullable<T>> {
  let left = within;
  let cause: unknown;
  for (;;) {
    const since = performance.now();
    try {
      const value = await condition();
      if (value) return value;
      cause = undefined;
    } catch (error) {
      cause = error;
    }
    if (left <= 0) throw new Error(`Not within ${within} ms: ${what}`, { cause });
    await new Promise((resolve) => setTimeout(resolve, every));
    left -= Math.min(performance.now() - since, LONGEST_LOOK);
  }
}
