// The same with several processes: a burst of requests, then workers that take the key again and again. The processes are fresh in
// every round, and know one candidate alone.
import { Admin } from './lib/admin.mjs';
import { fairnessOf } from './lib/analysis.mjs';
import { TROUBLES } from './lib/bursts.mjs';
import { loadCandidates } from './lib/candidates.mjs';
import { FLEET_COLUMNS, inFleet } from './lib/fleet.mjs';
import { options } from './lib/options.mjs';
import { publish } from './lib/results.mjs';
import { inRounds } from './lib/rounds.mjs';
import { startRedis } from './lib/servers.mjs';
import { summarise } from './lib/summary.mjs';

const option = options(
  {
    processes: 4,
    waiters: 32,
    rounds: 3,
    ttl: 5_000,
    cap: 6_000,
    ms: 1_500,
    patience: 500,
  },
  { waiters: 16, rounds: 1, cap: 3_000, ms: 300, patience: 50 },
);
const { processes, waiters, rounds } = option;
const server = await startRedis();
const admin = new Admin(server.port);
const setting = { ports: server.port, feature: 'wait', admin, pids: [server.pid] };
const candidates = await loadCandidates(option, 'wait');

const samples = await inRounds(candidates, { rounds }, (each, round) =>
  inFleet(each, option, setting, async (measure) => {
    const { result } = await measure(`burst:${each.name}:${round}`, 'burst');
    const steady = steadyOf(await measure(`steady:${each.name}:${round}`, 'steady'));
    return { burst: result, steady };
  }),
);
const bursts = samples.map(({ name, round, burst }) => ({ name, round, ...burst }));
const steadies = samples.map(({ name, round, steady }) => ({ name, round, ...steady }));
publish(option.out, {
  id: 'processes-burst',
  title: `${processes} processes with ${waiters} waiters each (${rounds} rounds)`,
  columns: FLEET_COLUMNS,
  troubles: TROUBLES,
  rows: summarise(bursts, candidates, { ratios: ['total ms'] }),
  samples: bursts,
  processes,
  waiters,
});

publish(option.out, {
  id: 'processes-steady',
  title: `${processes} processes with ${waiters} workers each that take the key again and again for ${option.ms} ms (${rounds} rounds)`,
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

admin.close();
await server.stop();
process.exit(0);

function steadyOf({ run, result, end }) {
  const inTime = run.events.filter(({ granted }) => granted < end); // without everyone's last turn
  const rate = (inTime.length / option.ms) * 1_000;
  return { ...result, 'grants/s': rate, ...fairnessOf(inTime, processes * waiters) };
}
