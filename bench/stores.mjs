// Every store on its system, beside what a user would pick there instead: uncontended cycles, a key that 32 services
// wait for, and one that 32 calls of one service wait for.
import { TROUBLES } from './lib/bursts.mjs';
import { options } from './lib/options.mjs';
import { OwnProcesses } from './lib/own-processes.mjs';
import { publish } from './lib/results.mjs';
import { orderIn } from './lib/rounds.mjs';
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
    bursts: 3,
    ttl: 10_000,
    cap: 5_000,
  },
  { rounds: 1, ms: 60, settle: 10, warmUp: 50, patience: 30, bursts: 1, cap: 3_000 },
);
const { waiters, concurrency } = option;

const rows = [];
const samples = [];
const notes = [];
for (const system of SYSTEMS.filter(({ id }) => option.systems.split(',').includes(id))) {
  try {
    const parts = await measure(system);
    if (parts.candidates.length === 0) continue;
    rows.push(...storeRows(parts, concurrency));
    samples.push(parts);
  } catch (error) {
    notes.push(`${system.title} is left out: ${firstLine(error)}`);
    console.error(`# ${notes.at(-1)}`);
  }
}
publish(option.out, {
  id: 'stores',
  title: `One cycle and ${concurrency} at a time (${option.rounds} rounds of ${option.ms} ms), hand-off with ${waiters} waiters (${option.bursts} rounds)`,
  columns: storeColumns(concurrency),
  troubles: ['errors', ...TROUBLES],
  rows,
  samples,
  order: samples.flatMap(({ single }) => orderIn(single)),
  notes,
  concurrency,
  waiters,
});
process.exit(0);

/** All samples of one system, by part. */
async function measure(system) {
  const { addresses, pids, version, stop } = await system.start();
  const start = (services) => {
    const { feature } = system;
    const selection = { ...option, only: option.only || system.only };
    return OwnProcesses.start(selection, addresses, pids, { feature, system, services });
  };
  try {
    const own = await start();
    notes.push(...own.missing.map(({ name }) => `${name} could not be set up`));
    const single = await own.cycles(1, { ...option, isFresh: system.isFresh });
    const many = await own.cycles(concurrency, { ...option, isFresh: system.isFresh });
    const together = await burstsOf(own, 'together');
    await own.stop();
    const apart = system.isLocal ? [] : await burstsApart(await start(waiters));
    const store = `${system.title} ${version}`.trim();
    return { store, candidates: own.candidates.map(described), single, many, apart, together };
  } finally {
    await stop();
  }
}

/** As many services as waiters in the process of each candidate, with connections of their own. */
async function burstsApart(own) {
  const bursts = await burstsOf(own, 'apart');
  await own.stop();
  return bursts;
}

/** The first one connects what is only needed to wait: it counts when it met trouble. */
async function burstsOf(own, part) {
  const { ttl, cap, patience } = option;
  const bursts = await own.inRounds({ rounds: option.bursts + 1 }, 'burst', ({ name }, round) => {
    return { waiters, ttl, cap, patience, key: `${part}:${name}:${round}` };
  });
  return bursts.filter(
    (burst) => burst.round > 0 || TROUBLES.some((trouble) => Boolean(burst[trouble])),
  );
}

function described({ name, library, variant }) {
  return { name, library, variant };
}
