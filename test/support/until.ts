export interface UntilOptions {
  /** Milliseconds after which the wait fails. @default 5_000 */
  readonly within?: number;
  /** Milliseconds between two looks. @default 5 */
  readonly every?: number;
  /** What is being waited for, for the error message. */
  readonly what?: string;
}

/**
 * Resolves with the first truthy value of `condition`. A condition that throws counts as "not yet"; its last error is
 * the cause of the failure when time is up.
 */
export async function until<T>(
  condition: () => T | Promise<T>,
  { within = 5_000, every = 5, what = condition.toString() }: UntilOptions = {},
): Promise<NonNullable<T>> {
  const deadline = performance.now() + within;
  let cause: unknown;
  for (;;) {
    try {
      const value = await condition();
      if (value) return value;
      cause = undefined;
    } catch (error) {
      cause = error;
    }
    if (performance.now() > deadline)
      throw new Error(`Not within ${within} ms: ${what}`, { cause });
    await new Promise((resolve) => setTimeout(resolve, every));
  }
}
