// Locks on a majority of several independent servers (Redlock): what they cost without contention, what a hung server costs
// them, and many waiters for one key in one process and in several.
import { BURST_COLUMNS, BURST_RATIOS, TROUBLES } from './lib/bursts.mjs';
import { loadCandidates, setUp, tearDown } from './lib/candidates.mjs';
import { CYCLE_COLUMNS, CYCLE_RATIOS, cycles } from './lib/cycles.mjs';
import { FLEET_COLUMNS, inFleet } from './lib/fleet.mjs';
import { Noise, quiet } from './lib/noise.mjs';
import { startNodes } from './lib/nodes.mjs';
import { options } from './lib/options.mjs';
import { OwnProcesses } from './lib/own-processes.mjs';
import { publish } from './lib/results.mjs';
import { inRounds } from './lib/rounds.mjs';
import { quantile } from './lib/stats.mjs';
import { stray } from './lib/stray.mjs';
import { summarise } from './lib/summary.mjs';
import { sleep } from './lib/time.mjs';
import { watchPorts } from './lib/wire.mjs';

const option = options(
  {
    parts: 'uncontended,contended,processes,hung',
    nodes: 5,
    concurrency: [1, 16, 128],
    rounds: 6,
    ms: 120,
    settle: 100,
    warmUp: 400,
    patience: 200,
    waiters: 128,
    processes: 4,
    each: 32,
    bursts: 3,
    ttl: 5_000,
    cap: 5_000,
    hungRounds: 2,
    hungConcurrency: 16,
    healthyMs: 500,
    hungMs: 3_000,
    grace: 1_000,
  },
  {
    rounds: 1,
    ms: 40,
    settle: 10,
    warmUp: 60,
    patience: 50,
    waiters: 32,
    each: 8,
    bursts: 1,
    cap: 2_000,
    hungRounds: 1,
    healthyMs: 150,
    hungMs: 300,
    grace: 300,
  },
);
const { concurrency, ttl, cap, patience } = option;
/** A key that was just released at most of the servers may still be held at the others. */
const isFresh = true;
const PARTS = { uncontended, contended, processes, hung };

const nodes = await startNodes(option.nodes);
watchPorts(...nodes.ports);
for (const part of option.parts.split(',')) await PARTS[part]();
await nodes.stop();
process.exit(0);

async function uncontended() {
  const own = await OwnProcesses.start(option, nodes.ports, nodes.pids, { feature: 'redlock' });
  for (const each of concurrency) {
    const samples = await own.cycles(each, { ...option, isFresh });
    publish(option.out, {
      id: `redlock-uncontended-${each}`,
      title: `${option.nodes} servers, uncontended, concurrency ${each} (${option.rounds} rounds of ${option.ms} ms)`,
      columns: CYCLE_COLUMNS,
      troubles: ['errors', 'error'],
      rows: summarise(samples, own.candidates, { ratios: CYCLE_RATIOS }),
      samples,
      nodes: option.nodes,
      concurrency: each,
    });
  }
  await own.stop();
}

async function contended() {
  const { waiters } = option;
  const own = await OwnProcesses.start(option, nodes.ports, nodes.pids, { feature: 'redlock' });
  const samples = await own.inRounds({ rounds: option.bursts }, 'burst', ({ name }, round) => {
    return { waiters, ttl, cap, patience, key: `c:${name}:${round}` };
  });
  publish(option.out, {
    id: 'redlock-contended',
    title: `${option.nodes} servers, ${waiters} waiters in one process (${option.bursts} rounds)`,
    columns: BURST_COLUMNS,
    troubles: TROUBLES,
    rows: summarise(samples, own.candidates, { ratios: BURST_RATIOS }),
    samples,
    nodes: option.nodes,
    waiters,
  });
  await own.stop();
}

async function processes() {
  const { processes: count, each: waiters, bursts: rounds } = option;
  const candidates = await loadCandidates(option, 'redlock');
  const setting = { ports: nodes.ports, feature: 'redlock', admin: nodes, pids: nodes.pids };
  const samples = await inRounds(candidates, { rounds }, (each, round) =>
    inFleet(each, { ...option, waiters, ms: 0 }, setting, async (measure) => {
      const { result } = await measure(`p:${each.name}:${round}`, 'burst');
      return result;
    }),
  );
  publish(option.out, {
    id: 'redlock-processes',
    title: `${option.nodes} servers, ${count} processes with ${waiters} waiters each (${rounds} rounds)`,
    columns: FLEET_COLUMNS,
    troubles: TROUBLES,
    rows: summarise(samples, candidates, { ratios: ['total ms'] }),
    samples,
    nodes: option.nodes,
    processes: count,
    waiters,
  });
}

/** Each alone, on connections of its own that have seen all servers well. */
async function hung() {
  const all = await loadCandidates(option, 'redlock');
  const samples = await inRounds(all, { rounds: option.hungRounds }, async (each, round) => {
    const [candidate] = await setUp([each], nodes.ports, option);
    if (!candidate) throw new Error('not set up');
    const sample = await measureHung(candidate, round);
    await tearDown([candidate]);
    return sample;
  });
  publish(option.out, {
    id: 'redlock-hung',
    title: `One of ${option.nodes} servers hung for ${option.hungMs} ms, concurrency ${option.hungConcurrency} (${option.hungRounds} rounds)`,
    columns: [
      'name',
      'healthy cycles/s',
      'hung cycles/s',
      'rate hung/healthy',
      'healthy p99 ms',
      'hung p99 ms',
      'p99 hung/healthy',
      'hung longest ms',
      'growth MB',
      'noise',
    ],
    troubles: ['stuck', 'errors', 'unhandled', 'error'],
    rows: summarise(samples, all),
    samples,
    nodes: option.nodes,
    concurrency: option.hungConcurrency,
    ms: option.hungMs,
  });
}

/** Healthy, hung, healthy again: the first and the last together are what the hung time is compared with. */
async function measureHung(candidate, round) {
  const noise = new Noise([process.pid, ...nodes.pids]);
  const strays = stray.count;
  await run(candidate, option.warmUp);
  await quiet(patience);
  const before = await run(candidate, option.healthyMs);
  const victim = option.nodes - 1 - (round % option.nodes);
  const { during, growth } = await nodes.withOneHung(victim, async () => {
    await sleep(20);
    const memory = usedMemory();
    const figures = figuresOf(await run(candidate, option.hungMs));
    return { during: figures, growth: usedMemory() - memory };
  });
  const after = await run(candidate, option.healthyMs);
  const healthy = figuresOf({
    cycles: before.cycles + after.cycles,
    wall: before.wall + after.wall,
    acquires: [...before.acquires, ...after.acquires],
  });
  return {
    'healthy cycles/s': healthy.rate,
    'hung cycles/s': during.rate,
    'rate hung/healthy': during.rate / healthy.rate,
    'healthy p99 ms': healthy.p99,
    'hung p99 ms': during.p99,
    'p99 hung/healthy': during.p99 / healthy.p99,
    'hung longest ms': during.longest,
    'growth MB': growth / 2 ** 20,
    noise: noise.share(),
    stuck: during.stuck,
    errors: before.errors + during.errors + after.errors,
    unhandled: stray.count - strays,
    error: before.error || during.error || after.error,
  };
}

async function run(candidate, ms) {
  const { grace, hungConcurrency } = option;
  const { times, ...result } = await cycles(candidate, hungConcurrency, ms, { isFresh, grace });
  return { ...result, cycles: times.length };
}

function figuresOf({ cycles: count, wall, acquires, ...rest }) {
  return {
    ...rest,
    rate: (count / wall) * 1_000,
    p99: quantile(acquires, 0.99),
    longest: quantile(acquires, 1),
  };
}

/** In bytes, after a garbage collection: on the heap and beside it. */
function usedMemory() {
  globalThis.gc?.();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}
