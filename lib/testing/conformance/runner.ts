/**
 * The context that runners hand to a test: `node:test` and Vitest as its argument, Mocha as `this`. Jest has nothing of the kind.
 */
interface RunningTest {
  readonly skip?: (reason: string) => unknown;
  /** Mocha's: it shows no reason, so the title does. */
  readonly test?: { title?: string };
}

/** Registers a test that is never run. `false`: this function cannot do so. */
export function registerSkipped(test: unknown, title: string): boolean {
  const { skip } = test as { readonly skip?: unknown };
  if (typeof skip !== 'function') return false;
  skip.call(test, title, async () => {});
  return true;
}

/** Skips the test that runs now. Throws what its runner throws for that. `false`: the runner cannot. */
export function skipRunning(given: readonly unknown[], reason: string): boolean {
  for (const each of given as readonly (RunningTest | undefined)[]) {
    if (typeof each?.skip !== 'function') continue;
    if (typeof each.test?.title === 'string') each.test.title += ` (${reason})`;
    each.skip(reason);
    return true;
  }
  return false;
}
