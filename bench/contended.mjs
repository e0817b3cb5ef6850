// Many waiters for one key in one process, all asking at once.
import { Admin } from './lib/admin.mjs';
import { BURST_COLUMNS, BURST_RATIOS, measureBurst, TROUBLES } from './lib/bursts.mjs';
import { loadCandidates, setUp, tearDown } from './lib/candidates.mjs';
import { options } from './lib/options.mjs';
import { publish } from './lib/results.mjs';
import { inRounds } from './lib/rounds.mjs';
import { startRedis } from './lib/servers.mjs';
import { summarise } from './lib/summary.mjs';
import { watchPorts } from './lib/wire.mjs';

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
  const request = { ...option, waiters, admin, pids: [server.pid] };
  const samples = await inRounds(candidates, limits, (each, round) =>
    measureBurst(each, { ...request, key: `c:${each.name}:${waiters}:${round}` }),
  );
  publish(option.out, {
    id: `contended-${waiters}`,
    title: `${waiters} waiters in one process`,
    columns: BURST_COLUMNS,
    troubles: TROUBLES,
    rows: summarise(samples, candidates, { ratios: BURST_RATIOS }),
    samples,
    waiters,
  });
}
await tearDown(candidates);
admin.close();
await server.stop();
process.exit(0);
