// What a lock costs that nobody else wants: acquire and release on distinct keys, at several concurrencies.
import { Admin } from './lib/admin.mjs';
import { loadCandidates, rotate, setUp, tearDown } from './lib/candidates.mjs';
import { Noise, quiet } from './lib/noise.mjs';
import { options } from './lib/options.mjs';
import { publish } from './lib/results.mjs';
import { startRedis } from './lib/servers.mjs';
import { quantile } from './lib/stats.mjs';
import { summarise } from './lib/summary.mjs';
import { firstLine } from './lib/time.mjs';
import { watchPorts, wire } from './lib/wire.mjs';

const option = options(
  { concurrency: [1, 16, 256], rounds: 6, ms: 120, settle: 30, warmUp: 500, patience: 200 },
  { rounds: 1, ms: 40, settle: 10, warmUp: 100, patience: 50 },
);
const server = await startRedis();
watchPorts(server.port);
const admin = new Admin(server.port);
const candidates = await setUp(await loadCandidates(option), server.port, option);

for (const concurrency of option.concurrency) {
  for (const each of candidates) await cycles(each, concurrency, option.warmUp); // until its code is compiled
  const samples = [];
  for (let round = 0; round < option.rounds; round++) {
    globalThis.gc?.(); // not before each sample: V8 throws away compiled code whose objects are all gone
    for (const each of rotate(candidates, round)) {
      await quiet(option.patience);
      samples.push(await besideRaw(each, concurrency, round));
    }
  }
  const ratios = ['cycles/s', 'p50 µs', 'client µs', 'server µs'];
  publish(option.out, {
    id: `uncontended-${concurrency}`,
    title: `Uncontended, concurrency ${concurrency} (${option.rounds} rounds of ${option.ms} ms)`,
    columns: [
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
    ],
    troubles: ['errors', 'error'],
    rows: summarise(samples, candidates, { ratios }),
    samples,
    concurrency,
  });
}
await tearDown(candidates);
admin.close();
await server.stop();
process.exit(0);

/** The raw client runs right before or right after, in turn, so that both see the same machine. */
async function besideRaw(candidate, concurrency, round) {
  const raw = candidates.find(({ name }) => name === candidate.raw);
  const before = raw && round % 2 ? await measure(raw, concurrency) : undefined;
  const sample = await measure(candidate, concurrency);
  const pair = before ?? (raw && (await measure(raw, concurrency)));
  return { name: candidate.name, round, ...sample, pair };
}

async function measure(candidate, concurrency) {
  await cycles(candidate, concurrency, option.settle); // so that it does not pay for the one before
  const serverCpu = await admin.cpuMicros();
  const sent = { ...wire };
  const noise = new Noise([process.pid, server.pid]);
  const cpu = process.cpuUsage();
  const { times, wall, errors, error } = await cycles(candidate, concurrency, option.ms);
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

async function cycles(candidate, concurrency, ms) {
  const result = { times: [], errors: 0, error: '' };
  const start = performance.now();
  const end = start + ms;
  const worker = async (index) => {
    const key = `u:${candidate.name}:${index}`;
    while (performance.now() < end && result.errors < 50) {
      const started = performance.now();
      try {
        const lock = await candidate.acquire(key, { ttl: 10_000, wait: 0 });
        await lock.release();
        result.times.push(performance.now() - started);
      } catch (error) {
        result.errors++;
        result.error = firstLine(error);
      }
    }
  };
  await Promise.all(Array.from({ length: concurrency }, (_, index) => worker(index)));
  return { ...result, wall: performance.now() - start };
}
