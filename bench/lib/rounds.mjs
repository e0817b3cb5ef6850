import { rotate } from './candidates.mjs';
import { firstLine } from './time.mjs';

/**
 * `rounds` turns for every candidate, another one first each time. One that has used up its `budget` of ms, that threw or
 * whose `isComplete` says no gets no further turns: it is reported with what it has.
 */
export async function inRounds(candidates, { rounds, budget, isComplete = () => true }, measure) {
  const samples = [];
  const spent = new Map(candidates.map((each) => [each, 0]));
  for (let round = 0; round < rounds; round++) {
    for (const each of rotate(candidates, round)) {
      if (spent.get(each) >= budget) continue;
      const start = performance.now();
      try {
        const sample = { name: each.name, round, ...(await measure(each, round)) };
        samples.push(sample);
        if (!isComplete(sample)) spent.set(each, Infinity);
      } catch (error) {
        console.error(`# ${each.name} is left out: ${firstLine(error)}`);
        spent.set(each, Infinity);
      }
      spent.set(each, spent.get(each) + performance.now() - start);
    }
  }
  return samples;
}
