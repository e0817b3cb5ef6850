// The same with several processes: a burst of requests, then workers that take the key again and again.
import { Admin } from './lib/admin.mjs';
import { fairnessOf } from './lib/analysis.mjs';
import { TROUBLES } from './lib/bursts.mjs';
import { loadCandidates } from './lib/candidates.mjs';
import { FLEET_COLUMNS, measureFleet } from './lib/fleet.mjs';
import { options } from './lib/options.mjs';
import { publish } from './lib/results.mjs';
import { inRounds } from './lib/rounds.mjs';
import { startRedis } from './lib/servers.mjs';
import { summarise } from './lib/summary.mjs';
import { startWorkers } from './lib/workers.mjs';

const option = options(
  {
    processes: 4,
    waiters: 32,
    rounds: 5,
    budget: 1_000,
    ttl: 5_000,
    cap: 6_000,
    ms: 1_500,
    patience: 500,
  },
  { waiters: 16, rounds: 1, cap: 3_000, ms: 300, patience: 50 },
);
const { processes, waiters } = option;
const server = await startRedis();
const admin = new Admin(server.port);
const selection = { ...option, feature: 'wait' };
const { workers, names } = await startWorkers(processes, server.port, selection);
const all = await loadCandidates(option, 'wait');
const candidates = all.filter(({ name }) => names.includes(name));
const pids = [server.pid, ...workers.map(({ pid }) => pid)];

const isComplete = ({ grants }) => grants === processes * waiters;
const bursts = await inRounds(candidates, { ...option, isComplete }, measureBurst);
publish(option.out, {
  id: 'processes-burst',
  title: `${processes} processes with ${waiters} waiters each`,
  columns: FLEET_COLUMNS,
  troubles: TROUBLES,
  rows: summarise(bursts, candidates, { ratios: ['total ms'] }),
  samples: bursts,
  processes,
  waiters,
});

const steadies = await inRounds(candidates, { ...option, budget: option.ms }, measureSteady);
publish(option.out, {
  id: 'processes-steady',
  title: `${processes} processes with ${waiters} workers each that take the key again and again for ${option.ms} ms`,
  columns: [
    'name',
    'grants/s',
    'jain',
    'fewest',
    'most',
    'hand-off p50',
    'commands/grant',
    'same process',
    'longest wait',
    'noise',
  ],
  troubles: TROUBLES,
  rows: summarise(steadies, candidates),
  samples: steadies,
  processes,
  waiters,
});

await Promise.all(workers.map((worker) => worker.stop()));
admin.close();
await server.stop();
process.exit(0);

async function measureBurst({ name }, round) {
  const { result } = await measure(name, `burst:${name}:${round}`, 'burst');
  return result;
}

async function measureSteady({ name }, round) {
  const { run, result, end } = await measure(name, `steady:${name}:${round}`, 'steady');
  const inTime = run.events.filter(({ granted }) => granted < end); // without everyone's last turn
  const rate = (inTime.length / option.ms) * 1_000;
  return { ...result, 'grants/s': rate, ...fairnessOf(inTime, processes * waiters) };
}

function measure(name, key, mode) {
  return measureFleet(workers, { ...option, name, key, mode, admin, pids });
}
