// Many waiters for one key in one process, all asking at once.
import { BURST_COLUMNS, BURST_RATIOS, TROUBLES } from './lib/bursts.mjs';
import { options } from './lib/options.mjs';
import { OwnProcesses } from './lib/own-processes.mjs';
import { publish } from './lib/results.mjs';
import { startRedis } from './lib/servers.mjs';
import { summarise } from './lib/summary.mjs';

const option = options(
  { waiters: [2, 16, 128, 1_000], rounds: 3, ttl: 5_000, cap: 5_000, patience: 500 },
  { waiters: [8, 64], rounds: 1, cap: 3_000, patience: 50 },
);
const server = await startRedis();
const own = await OwnProcesses.start(option, server.port, [server.pid], { feature: 'wait' });

for (const waiters of option.waiters) {
  const { rounds, ttl, cap, patience } = option;
  const samples = await own.inRounds({ rounds }, 'burst', ({ name }, round) => {
    return { waiters, ttl, cap, patience, key: `c:${name}:${waiters}:${round}` };
  });
  publish(option.out, {
    id: `contended-${waiters}`,
    title: `${waiters} waiters in one process (${option.rounds} rounds)`,
    columns: BURST_COLUMNS,
    troubles: TROUBLES,
    rows: summarise(samples, own.candidates, { ratios: BURST_RATIOS }),
    samples,
    waiters,
  });
}
await own.stop();
await server.stop();
process.exit(0);
