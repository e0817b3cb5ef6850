/** Runs `cycle(worker)` over and over from `concurrency` workers for `ms` milliseconds. Resolves with cycles per second. */
export async function cyclesPerSecond(cycle, concurrency, ms) {
  const start = performance.now();
  const end = start + ms;
  let done = 0;
  const worker = async (index) => {
    while (performance.now() < end) {
      await cycle(index);
      done++;
    }
  };
  await Promise.all(Array.from({ length: concurrency }, (_, index) => worker(index)));
  return (done / (performance.now() - start)) * 1_000;
}

/**
 * The rates of a cycle and of its reference, which runs after it in one round, and before it in the next. Each runs for `settle`
 * milliseconds before, so that it does not pay for the process or the cycle that ran last.
 */
export async function paired(cycle, reference, { concurrency, ms, settle, round }) {
  const measure = async (each) => {
    await cyclesPerSecond(each, concurrency, settle);
    return cyclesPerSecond(each, concurrency, ms);
  };
  if (round % 2 === 0) return { rate: await measure(cycle), base: await measure(reference) };
  const base = await measure(reference);
  return { rate: await measure(cycle), base };
}
