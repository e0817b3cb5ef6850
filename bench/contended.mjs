// Many waiters for one key in one process, all asking at once.
import { Admin } from './lib/admin.mjs';
import { analyse, orderOf } from './lib/analysis.mjs';
import { loadCandidates, setUp, tearDown } from './lib/candidates.mjs';
import { burst } from './lib/contention.mjs';
import { Noise, quiet } from './lib/noise.mjs';
import { options } from './lib/options.mjs';
import { publish } from './lib/results.mjs';
import { inRounds } from './lib/rounds.mjs';
import { startRedis } from './lib/servers.mjs';
import { stray } from './lib/stray.mjs';
import { summarise } from './lib/summary.mjs';
import { sleep } from './lib/time.mjs';
import { watchPorts, wire } from './lib/wire.mjs';

const option = options(
  { waiters: [2, 16, 128, 1_000], rounds: 3, budget: 1_000, ttl: 5_000, cap: 5_000, patience: 500 },
  { waiters: [8, 64], rounds: 1, cap: 3_000, patience: 50 },
);
const server = await startRedis();
watchPorts(server.port);
const admin = new Admin(server.port);
const candidates = await setUp(await loadCandidates(option, 'wait'), server.port, option);

for (const waiters of option.waiters) {
  const isComplete = ({ grants }) => grants === waiters;
  const limits = { rounds: option.rounds, budget: option.budget, isComplete };
  const samples = await inRounds(candidates, limits, (each, round) =>
    measure(each, waiters, round),
  );
  publish(option.out, {
    id: `contended-${waiters}`,
    title: `${waiters} waiters in one process`,
    columns: [
      'name',
      'grants',
      'total ms',
      'total ms/raw',
      'total/ideal',
      'hand-off p50',
      'hand-off p50/raw',
      'hand-off p99',
      'commands/grant',
      'client µs',
      'server µs',
      'rank',
      'longest wait',
      'noise',
      'rounds',
    ],
    troubles: ['overlaps', 'failed', 'failed releases', 'unhandled', 'error'],
    rows: summarise(samples, candidates, { ratios: ['total ms', 'hand-off p50'] }),
    samples,
    waiters,
  });
}
await tearDown(candidates);
admin.close();
await server.stop();
process.exit(0);

async function measure(candidate, waiters, round) {
  globalThis.gc?.();
  await quiet(option.patience);
  const roundTrip = await admin.roundTrip();
  const serverCpu = await admin.cpuMicros();
  const before = { commands: wire.commands, stray: stray.count, cpu: process.cpuUsage() };
  const noise = new Noise([process.pid, server.pid]);
  const { ttl, cap } = option;
  const run = await burst(candidate, {
    key: `c:${candidate.name}:${waiters}:${round}`,
    waiters,
    ttl,
    cap,
  });
  const share = noise.share();
  const { user, system } = process.cpuUsage(before.cpu);
  const result = analyse(run, { commands: wire.commands - before.commands, roundTrip });
  const serverMicros = (await admin.cpuMicros()) - serverCpu;
  await sleep(20); // what the last release set off
  return {
    ...result,
    rank: orderOf(run),
    'client µs': (user + system) / result.grants,
    'server µs': serverMicros / result.grants,
    unhandled: stray.count - before.stray,
    noise: share,
  };
}
