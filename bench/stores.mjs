// Every store on its system, beside what a user would pick there instead: uncontended cycles, a key that 32 services
// wait for, and one that 32 calls of one service wait for.
import { measureBurst, TROUBLES } from './lib/bursts.mjs';
import { loadCandidates, setUp, tearDown } from './lib/candidates.mjs';
import { measureCycles } from './lib/cycles.mjs';
import { options } from './lib/options.mjs';
import { publish } from './lib/results.mjs';
import { inRounds } from './lib/rounds.mjs';
import { spread } from './lib/spread.mjs';
import { storeColumns, storeRows } from './lib/store-rows.mjs';
import { SYSTEMS } from './lib/systems.mjs';
import { firstLine } from './lib/time.mjs';

const option = options(
  {
    systems: SYSTEMS.map(({ id }) => id).join(','),
    concurrency: 16,
    waiters: 32,
    rounds: 4,
    ms: 150,
    settle: 30,
    warmUp: 200,
    patience: 100,
    bursts: 5,
    budget: 1_500,
    ttl: 10_000,
    cap: 5_000,
  },
  { rounds: 1, ms: 60, settle: 10, warmUp: 50, patience: 30, bursts: 1, cap: 3_000 },
);
const { waiters, concurrency } = option;
/** No server is asked what it has cost. */
const admin = { cpuMicros: async () => NaN, roundTrip: async () => NaN };

const rows = [];
const samples = [];
const notes = [];
for (const system of SYSTEMS.filter(({ id }) => option.systems.split(',').includes(id))) {
  try {
    const wanted = await load(system);
    if (wanted.length === 0) continue;
    const parts = await measure(system, wanted);
    rows.push(...storeRows(parts, concurrency));
    samples.push(parts);
  } catch (error) {
    notes.push(`${system.title} is left out: ${firstLine(error)}`);
    console.error(`# ${notes.at(-1)}`);
  }
}
publish(option.out, {
  id: 'stores',
  title: `One cycle and ${concurrency} at a time, hand-off with ${waiters} waiters`,
  columns: storeColumns(concurrency),
  troubles: ['errors', ...TROUBLES],
  rows,
  samples,
  notes,
  concurrency,
  waiters,
});
process.exit(0);

/** All samples of one system, by part. */
async function measure(system, wanted) {
  const { addresses, pids, version, stop } = await system.start();
  const shared = { ...option, admin, pids, isFresh: system.isFresh };
  try {
    const candidates = await setUp(wanted, addresses, option);
    const missing = wanted.filter((each) => !candidates.includes(each));
    notes.push(...missing.map(({ name }) => `${name} could not be set up`));
    const single = await measureCycles(candidates, 1, shared);
    const many = await measureCycles(candidates, concurrency, shared);
    const together = [];
    for (const each of candidates) together.push(...(await burstsOf(each, 'together', shared)));
    await tearDown(candidates);
    const apart = system.isLocal ? [] : await burstsApart(system, addresses, shared);
    const store = `${system.title} ${version}`.trim();
    return { store, candidates: candidates.map(described), single, many, apart, together };
  } finally {
    await stop();
  }
}

function load({ feature, folder, only }) {
  return loadCandidates({ ...option, only: option.only || only }, feature, folder);
}

/** As many services as waiters, those of one candidate at a time: some of them take a connection for each. */
async function burstsApart(system, addresses, shared) {
  const sets = await Promise.all(Array.from({ length: waiters }, () => load(system)));
  const bursts = [];
  for (const index of sets[0].keys()) {
    const services = spread(sets.map((set) => set[index]));
    const ready = await setUp([services], addresses, option);
    for (const each of ready) bursts.push(...(await burstsOf(each, 'apart', shared)));
    await tearDown(ready);
  }
  return bursts;
}

/** The first one connects what is only needed to wait: it counts when it met trouble or when there was no time for others. */
async function burstsOf(candidate, part, shared) {
  const isComplete = ({ grants }) => grants === waiters;
  const limits = { rounds: option.bursts + 1, budget: option.budget, isComplete };
  const bursts = await inRounds([candidate], limits, (each, round) =>
    measureBurst(each, { ...shared, key: `${part}:${each.name}:${round}` }),
  );
  const [first, ...others] = bursts;
  return others.length > 0 && !TROUBLES.some((trouble) => first[trouble]) ? others : bursts;
}

function described({ name, library, variant }) {
  return { name, library, variant };
}
