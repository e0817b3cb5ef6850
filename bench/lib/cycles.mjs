// Acquire and release on distinct keys, over and over: what uncontended.mjs measures on one server and redlock.mjs on several.
import { Noise } from './noise.mjs';
import { quantile } from './stats.mjs';
import { firstLine, sleep } from './time.mjs';
import { wire } from './wire.mjs';

export const CYCLE_COLUMNS = [
  'name',
  'cycles/s',
  'cycles/s/raw',
  'p50 µs',
  'p50 µs/raw',
  'p99 µs',
  'client µs',
  'client µs/raw',
  'server µs',
  'server µs/raw',
  'commands',
  'writes',
  'noise',
];
export const CYCLE_RATIOS = ['cycles/s', 'p50 µs', 'client µs', 'server µs'];

let count = 0;

/**
 * The raw client runs right before or right after, in turn, so that both see the same machine. No garbage collection is forced
 * before: V8 throws away compiled code whose objects are all gone, and its compiler would be measured. `admin` tells the CPU time
 * of the servers, whose processes are `pids`.
 */
export async function besideRaw(
  candidates,
  name,
  round,
  { concurrency, admin, pids, isFresh, ...option },
) {
  const keys = { isFresh };
  const candidate = candidates.find((each) => each.name === name);
  const raw = candidates.find((each) => each.name === candidate.raw);
  const before = raw && round % 2 ? await measure(raw) : undefined;
  const sample = await measure(candidate);
  const pair = before ?? (raw && (await measure(raw)));
  return { ...sample, pair };

  async function measure(candidate) {
    await cycles(candidate, concurrency, option.settle, keys); // so that it does not pay for the one before
    const serverCpu = await admin.cpuMicros();
    const sent = { ...wire };
    const noise = new Noise([process.pid, ...pids]);
    const cpu = process.cpuUsage();
    const { times, wall, errors, error } = await cycles(candidate, concurrency, option.ms, keys);
    const { user, system } = process.cpuUsage(cpu);
    const share = noise.share();
    const n = times.length;
    return {
      'cycles/s': (n / wall) * 1_000,
      'p50 µs': quantile(times, 0.5) * 1_000,
      'p99 µs': quantile(times, 0.99) * 1_000,
      'client µs': (user + system) / n,
      'server µs': ((await admin.cpuMicros()) - serverCpu) / n,
      commands: (wire.commands - sent.commands) / n,
      writes: (wire.writes - sent.writes) / n,
      noise: share,
      errors,
      error,
    };
  }
}

/**
 * `concurrency` workers for `ms` milliseconds, each with a key of its own or, with `isFresh`, with another one each time. Those
 * that have no answer `grace` ms after the end are left behind as stuck; a lock that they were still asking for counts with the
 * time that they waited.
 */
export async function cycles(candidate, concurrency, ms, { isFresh = false, grace } = {}) {
  const result = { times: [], acquires: [], errors: 0, error: '', stuck: 0 };
  const start = performance.now();
  const end = start + ms;
  const asking = new Map();
  let working = concurrency;
  const worker = async (index) => {
    const own = `u:${candidate.name}:${index}`;
    while (performance.now() < end && result.errors < 50) {
      const key = isFresh ? `${own}:${count++}` : own;
      const started = performance.now();
      asking.set(index, started);
      try {
        const lock = await candidate.acquire(key, { ttl: 10_000, wait: 0 });
        asking.delete(index);
        result.acquires.push(performance.now() - started);
        await lock.release();
        result.times.push(performance.now() - started);
      } catch (error) {
        result.errors++;
        result.error = firstLine(error);
      }
    }
    asking.delete(index);
    working--;
  };
  const all = Promise.all(Array.from({ length: concurrency }, (_, index) => worker(index)));
  await (grace === undefined ? all : Promise.race([all, sleep(ms + grace)]));
  const wall = performance.now() - start;
  const waited = [...asking.values()].map((since) => start + wall - since);
  return { ...result, acquires: [...result.acquires, ...waited], stuck: working, wall };
}
