// How many different functions one cycle of acquire and release runs, in a process whose code is warm. A function that runs once
// between other work costs 0.5 to 3 µs, whatever it does, because its code and its data are in no cache: so this is what
// `paced.mjs` measures by the clock, counted. The figures are the same on a busy machine.
//   node bench/steps.mjs --only 'raw5,redlock5,holdfast*'            a row for each candidate
//   node bench/steps.mjs --only holdfast --functions                 and the functions of ours, in the order of the files
import { loadCandidates, setUp, tearDown } from './lib/candidates.mjs';
import { functionsOf } from './lib/coverage.mjs';
import { options } from './lib/options.mjs';
import { publish } from './lib/results.mjs';
import { startRedis } from './lib/servers.mjs';

const option = options({ functions: false }, {});

const server = await startRedis();
const candidates = await setUp(await loadCandidates(option), server.port, option);

const rows = [];
for (const candidate of candidates) rows.push(await stepsOf(candidate));
publish(option.out, {
  id: 'steps',
  title: 'Different functions that one cycle runs, and all calls of them',
  columns: ['name', 'library', 'client', 'Node', 'functions', 'functions/raw', 'calls'],
  rows: rows.map((row) => ({ ...row, 'functions/raw': row.functions / rawOf(row).functions })),
  samples: rows,
});
await tearDown(candidates);
await server.stop();
process.exit(0);

async function stepsOf(candidate) {
  const ran = await functionsOf(async () => {
    const lock = await candidate.acquire('steps', { ttl: 10_000, wait: 0 });
    await lock.release();
  });
  const steps = ran.filter(({ url }) => roomOf(url) !== undefined);
  if (option.functions) for (const { name, count } of steps) console.log(`${count} × ${name}`);
  const number = (room) => steps.filter(({ url }) => roomOf(url) === room).length;
  return {
    name: candidate.name,
    raw: candidate.raw,
    library: number('library'),
    client: number('client'),
    Node: number('Node'),
    functions: steps.length,
    calls: steps.reduce((sum, { count }) => sum + count, 0),
  };
}

/** `undefined` for the benchmark itself. */
function roomOf(url) {
  if (url.startsWith('node:')) return 'Node';
  if (/node_modules\/(ioredis\w*|redis-parser|denque|standard-as-callback|@ioredis)\//.test(url))
    return 'client';
  return url === '' || /\/bench\/(adapters|lib|[\w-]+\.mjs)/.test(url) ? undefined : 'library';
}

function rawOf({ raw }) {
  return rows.find(({ name }) => name === raw) ?? { functions: NaN };
}
