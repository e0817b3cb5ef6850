// What an application sees: a lock now and then, in a process that does other work in between, so that every cycle finds cold
// caches and half-warm code. Then the same right after a garbage collection, which every application has now and then.
import { loadCandidates, rotate, setUp, tearDown } from './lib/candidates.mjs';
import { Noise } from './lib/noise.mjs';
import { options } from './lib/options.mjs';
import { otherWork } from './lib/other-work.mjs';
import { publish } from './lib/results.mjs';
import { startRedis } from './lib/servers.mjs';
import { quantile } from './lib/stats.mjs';
import { summarise } from './lib/summary.mjs';
import { firstLine, sleep } from './lib/time.mjs';
import { random } from './lib/random.mjs';

const option = options(
  { rounds: 8, cycles: 40, warmUp: 60, every: 25, collected: 6 },
  { rounds: 2, cycles: 10, warmUp: 10, collected: 2 },
);
/** Milliseconds. */
const SWEEP = 3;
const TIMES = ['acquire', 'release', 'cycle'];
const COLUMNS = ['name', 'p50 µs', 'p50 µs/raw', 'p90 µs', 'acquire µs', 'release µs', 'noise'];

const server = await startRedis();
const candidates = await setUp(await loadCandidates(option), server.port, option);
let count = 0;

await interleaved(option.warmUp, pause);
await part('paced', 'A lock now and then', { rounds: option.rounds, cycles: option.cycles }, pause);
await part(
  'collected',
  'A lock right after a garbage collection',
  { rounds: option.collected, cycles: Math.ceil(option.cycles / 4) },
  collect,
);
await tearDown(candidates);
await server.stop();
process.exit(0);

async function part(id, title, { rounds, cycles }, before) {
  const samples = [];
  for (let round = 0; round < rounds; round++) {
    const noise = new Noise([process.pid, server.pid]);
    const seen = await interleaved(cycles, before);
    const share = noise.share();
    for (const [name, times] of seen)
      samples.push({ name, round, ...inWords(times), noise: share });
  }
  publish(option.out, {
    id,
    title: `${title} (${rounds} rounds of ${cycles} cycles each)`,
    columns: COLUMNS,
    troubles: ['errors', 'error'],
    rows: summarise(samples, candidates, { ratios: ['p50 µs'] }),
    samples,
  });
}

/** One cycle of each candidate after the other, another one first each time: all of them see the same machine. */
async function interleaved(cycles, before) {
  const seen = new Map(candidates.map(({ name }) => [name, emptyTimes()]));
  for (let cycle = 0; cycle < cycles; cycle++) {
    for (const each of rotate(candidates, count++)) {
      await before();
      await takeAndRelease(each, seen.get(each.name), `p:${each.name}:${cycle % 97}`);
    }
  }
  return seen;
}

async function takeAndRelease(candidate, times, key) {
  try {
    const asked = performance.now();
    const lock = await candidate.acquire(key, { ttl: 10_000, wait: 0 });
    const held = performance.now();
    await lock.release();
    const released = performance.now();
    times.acquire.push(held - asked);
    times.release.push(released - held);
    times.cycle.push(released - asked);
  } catch (error) {
    times.errors++;
    times.error = firstLine(error);
  }
}

async function pause() {
  otherWork(count);
  await sleep(option.every / candidates.length + random() * 2);
}

/** As `pause`, and then everything is collected that can be. What the collector does beside the program ends meanwhile. */
async function collect() {
  await pause();
  globalThis.gc();
  await sleep(SWEEP);
}

function emptyTimes() {
  return { ...Object.fromEntries(TIMES.map((name) => [name, []])), errors: 0, error: '' };
}

function inWords({ acquire, release, cycle, errors, error }) {
  const micros = (times, q) => quantile(times, q) * 1_000;
  return {
    'p50 µs': micros(cycle, 0.5),
    'p90 µs': micros(cycle, 0.9),
    'acquire µs': micros(acquire, 0.5),
    'release µs': micros(release, 0.5),
    errors,
    error,
  };
}
