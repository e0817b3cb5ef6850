// A lock now and then: what paced.mjs measures.
import { rotate } from './candidates.mjs';
import { Noise } from './noise.mjs';
import { otherWork } from './other-work.mjs';
import { random } from './random.mjs';
import { quantile } from './stats.mjs';
import { firstLine, sleep } from './time.mjs';

/** Milliseconds. */
const SWEEP = 3;
const TIMES = ['acquire', 'release', 'cycle'];
let count = 0;

/** A cycle of the candidate and one of its raw client, in turn, with other work before each and, with `collects`, a garbage collection. */
export async function measurePaced(candidates, name, round, { cycles, every, collects, pids }) {
  const candidate = candidates.find((each) => each.name === name);
  const raw = candidates.find((each) => each.name === candidate.raw);
  const sides = [candidate, raw].filter(Boolean).map((each) => ({ each, times: emptyTimes() }));
  const noise = new Noise([process.pid, ...pids]);
  for (let cycle = 0; cycle < cycles; cycle++) {
    for (const { each, times } of rotate(sides, round + cycle)) {
      await pause(every / sides.length);
      if (collects) await collect();
      await takeAndRelease(each, times, `p:${each.name}:${cycle % 97}`);
    }
  }
  const share = noise.share();
  const [sample, pair] = sides.map(({ times }) => ({ ...inWords(times), noise: share }));
  return { ...sample, pair };
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

async function pause(ms) {
  otherWork(count++);
  await sleep(ms + random() * 2);
}

/** Everything that can be. What the collector does beside the program ends meanwhile. */
async function collect() {
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
