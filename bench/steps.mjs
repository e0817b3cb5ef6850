// How many different functions one cycle of acquire and release runs, in a process whose code is warm. A function that runs once
// between other work costs 0.5 to 3 µs, whatever it does, because its code and its data are in no cache: so this is what
// `paced.mjs` measures by the clock, counted. The figures are the same on a busy machine.
//   node bench/steps.mjs --only 'raw5,redlock5,holdfast*'            a row for each candidate
//   node bench/steps.mjs --only holdfast --functions                 and the functions of ours, in the order of the files
import { Session } from 'node:inspector/promises';
import { loadCandidates, setUp, tearDown } from './lib/candidates.mjs';
import { options } from './lib/options.mjs';
import { publish } from './lib/results.mjs';
import { startRedis } from './lib/servers.mjs';
import { sleep } from './lib/time.mjs';

const option = options({ functions: false }, {});
/** Cycles of each candidate, of which the one with the fewest functions counts: a timer may run beside one of them. */
const CYCLES = 5;
/** Milliseconds between them. */
const PAUSE = 50;

const server = await startRedis();
const candidates = await setUp(await loadCandidates(option), server.port, option);
const session = new Session();
session.connect();
await session.post('Profiler.enable');

const rows = [];
for (const candidate of candidates) rows.push(await fewest(candidate));
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

async function fewest(candidate) {
  const cycles = [];
  for (let cycle = 0; cycle < CYCLES; cycle++) {
    await sleep(PAUSE);
    cycles.push(await stepsOfCycle(candidate));
  }
  const steps = cycles.reduce((least, next) => (next.length < least.length ? next : least));
  if (option.functions) for (const { name, count } of steps) console.log(`${count} × ${name}`);
  const number = (room) => steps.filter((step) => step.room === room).length;
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

async function stepsOfCycle(candidate) {
  await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });
  await session.post('Profiler.takePreciseCoverage');
  const lock = await candidate.acquire('steps', { ttl: 10_000, wait: 0 });
  await lock.release();
  await new Promise((resolve) => setImmediate(resolve));
  const { result } = await session.post('Profiler.takePreciseCoverage');
  await session.post('Profiler.stopPreciseCoverage');
  return result.flatMap(stepsOf);
}

/** The functions of a file that ran. The first range of a file is the file itself. */
function stepsOf({ url, functions }) {
  const room = roomOf(url);
  if (room === undefined) return [];
  return functions
    .filter(({ ranges: [{ count, startOffset }], functionName }) => {
      return count > 0 && (functionName !== '' || startOffset > 0);
    })
    .map(({ ranges: [{ count }], functionName }) => ({ room, count, name: functionName || '()' }));
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
