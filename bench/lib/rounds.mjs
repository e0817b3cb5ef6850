import { rotate } from './candidates.mjs';
import { quiet } from './noise.mjs';
import { shuffled } from './random.mjs';
import { firstLine } from './time.mjs';

/**
 * A sample of each candidate in every round, in an order that `--seed` gives; another one goes first each time. One that threw gets
 * no further turns: it is reported with what it has.
 */
export async function inRounds(candidates, { rounds, patience = 0 }, measure) {
  const samples = [];
  const failed = new Set();
  const order = shuffled(candidates);
  for (let round = 0; round < rounds; round++) {
    for (const each of rotate(order, round).filter((one) => !failed.has(one))) {
      if (patience > 0) await quiet(patience);
      try {
        samples.push({ name: each.name, round, ...(await measure(each, round)) });
      } catch (error) {
        console.error(`# ${each.name} is left out: ${firstLine(error)}`);
        failed.add(each);
      }
    }
  }
  return samples;
}

/** The names of those that had their turn in the first round, in its order. */
export function orderIn(samples) {
  return samples.filter(({ round }) => round === 0).map(({ name }) => name);
}
