/** Milliseconds after which what a check waits for does not come any more. */
const LONGEST_WAIT = 60_000;

/** Resolves once `isTrue` was. A rejection means "not yet". */
export async function until(isTrue: () => boolean | Promise<boolean>, what: string): Promise<void> {
  const since = performance.now();
  let cause: unknown;
  while (performance.now() - since < LONGEST_WAIT) {
    try {
      if (await isTrue()) return;
      cause = undefined;
    } catch (error) {
      cause = error;
    }
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  throw new Error(`waited ${LONGEST_WAIT} ms in vain for ${what}`, { cause });
}
