// `npm run simulate -- --seed 1 --runs 1000 --backing remote`. One seed prints its trace.
import { parseArgs } from 'node:util';
import { BACKINGS, type Backing, scheduleOf } from './schedule.js';
import { shrink } from './shrink.js';
import { simulate } from './simulation.js';

const { values } = parseArgs({
  options: {
    seed: { type: 'string', default: '1' },
    runs: { type: 'string', default: '1' },
    backing: { type: 'string' },
  },
});
const seed = Number(values.seed);
const runs = Number(values.runs);
const backings = BACKINGS.filter((each) => values.backing === undefined || each === values.backing);

async function main(): Promise<void> {
  if (!Number.isInteger(seed) || !(runs >= 1) || backings.length === 0)
    throw new Error(
      `--seed and --runs are whole numbers, --backing is one of ${BACKINGS.join(', ')}`,
    );
  const startedAt = performance.now();
  let violations = 0;
  for (let each = seed; each < seed + runs; each++)
    for (const backing of backings) violations += await run(each, backing);
  const seconds = ((performance.now() - startedAt) / 1_000).toFixed(1);
  console.log(
    `${runs * backings.length} schedules on ${backings.join(', ')}, seeds ${seed} to ${seed + runs - 1}: ` +
      `${violations} violations, ${seconds} s`,
  );
  process.exitCode = violations > 0 ? 1 : 0;
}

async function run(each: number, backing: Backing): Promise<number> {
  const trace = runs === 1 ? { trace: (line: string) => console.log(line) } : {};
  if (runs === 1) console.log(`seed ${each} on ${backing}`);
  const { violations } = await simulate(scheduleOf(each, backing), trace);
  for (const violation of violations) console.log(`seed ${each} on ${backing}: ${violation}`);
  if (runs === 1 && violations.length > 0)
    console.log('shrunk to', JSON.stringify(await shrink(scheduleOf(each, backing)), undefined, 2));
  return violations.length;
}

void main();
