// The same with several processes: a burst of requests, then workers that take the key again and again.
import { Admin } from './lib/admin.mjs';
import { analyse, fairnessOf, orderOf, stayedInProcess } from './lib/analysis.mjs';
import { loadCandidates } from './lib/candidates.mjs';
import { Noise, quiet } from './lib/noise.mjs';
import { options } from './lib/options.mjs';
import { publish } from './lib/results.mjs';
import { inRounds } from './lib/rounds.mjs';
import { startRedis } from './lib/servers.mjs';
import { sum } from './lib/stats.mjs';
import { summarise } from './lib/summary.mjs';
import { now, sleep } from './lib/time.mjs';
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

const COSTS = [
  'total ms',
  'total ms/raw',
  'total/ideal',
  'hand-off p50',
  'hand-off p99',
  'commands/grant',
  'client µs',
  'server µs',
];
const TROUBLES = ['overlaps', 'failed', 'failed releases', 'unhandled', 'error'];

const isComplete = ({ grants }) => grants === processes * waiters;
const bursts = await inRounds(candidates, { ...option, isComplete }, measureBurst);
publish(option.out, {
  id: 'processes-burst',
  title: `${processes} processes with ${waiters} waiters each`,
  columns: ['name', 'grants', ...COSTS, 'rank', 'same process', 'longest wait', 'noise', 'rounds'],
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
  const { run, result } = await measure(name, `burst:${name}:${round}`, 'burst');
  return { ...result, rank: orderOf(run) };
}

async function measureSteady({ name }, round) {
  const { run, result, end } = await measure(name, `steady:${name}:${round}`, 'steady');
  const inTime = run.events.filter(({ granted }) => granted < end); // without everyone's last turn
  const rate = (inTime.length / option.ms) * 1_000;
  return { ...result, 'grants/s': rate, ...fairnessOf(inTime, processes * waiters) };
}

async function measure(name, key, mode) {
  await quiet(option.patience);
  const roundTrip = await admin.roundTrip();
  const serverCpu = await admin.cpuMicros();
  const { ttl, cap, ms } = option;
  const request = { name, key, mode, waiters, ttl, cap, ms, startAt: now() + 50 };
  const noise = new Noise(pids);
  const replies = await Promise.all(
    workers.map((worker, i) =>
      worker.call('run', { ...request, firstId: i * waiters }, cap + ms + 10_000),
    ),
  );
  const share = noise.share();
  const run = {
    events: replies.flatMap(({ events }) => events),
    failures: replies.flatMap(({ failures }) => failures),
  };
  const total = (field) => sum(replies.map((reply) => reply[field]));
  const result = analyse(run, { commands: total('commands'), roundTrip });
  const serverMicros = (await admin.cpuMicros()) - serverCpu;
  await sleep(20); // what the last release set off
  return {
    run,
    end: request.startAt + ms,
    result: {
      ...result,
      'same process': stayedInProcess(run, waiters),
      'client µs': total('cpu') / result.grants,
      'server µs': serverMicros / result.grants,
      unhandled: total('unhandled'),
      noise: share,
    },
  };
}
