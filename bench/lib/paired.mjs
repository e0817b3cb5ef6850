import { median } from './stats.mjs';

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
 * Measures every candidate next to the reference, before it in one round and after it in the next, so that both see the same
 * machine, once `warmUp` ms of each have had their code compiled. The ratio is formed within each pair; medians are over the
 * rounds: many short ones, because the machine changes its pace within seconds.
 */
export async function paired(reference, candidates, { concurrency, rounds, ms, warmUp }) {
  const results = candidates.map(({ name }) => ({ name, rates: [], ratios: [], base: [] }));
  for (const { cycle } of [reference, ...candidates])
    await cyclesPerSecond(cycle, concurrency, warmUp);
  for (let round = 0; round < rounds; round++) {
    for (const [index, { cycle }] of candidates.entries()) {
      const order = round % 2 ? [reference.cycle, cycle] : [cycle, reference.cycle];
      const pair = [];
      for (const each of order) pair.push(await cyclesPerSecond(each, concurrency, ms));
      const [base, rate] = round % 2 ? pair : pair.toReversed();
      results[index].base.push(base);
      results[index].rates.push(rate);
      results[index].ratios.push(rate / base);
    }
  }
  return results.map(({ name, rates, ratios, base }) => ({
    name,
    rate: median(rates),
    base: median(base),
    ratio: median(ratios),
    spread: [Math.min(...ratios), Math.max(...ratios)],
  }));
}
