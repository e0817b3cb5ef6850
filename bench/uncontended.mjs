// What an uncontended lock costs: acquire and release on distinct keys, at several concurrencies.
import { Admin } from './lib/admin.mjs';
import { loadCandidates, setUp, tearDown } from './lib/candidates.mjs';
import { CYCLE_COLUMNS, CYCLE_RATIOS, measureCycles } from './lib/cycles.mjs';
import { options } from './lib/options.mjs';
import { publish } from './lib/results.mjs';
import { startRedis } from './lib/servers.mjs';
import { summarise } from './lib/summary.mjs';
import { watchPorts } from './lib/wire.mjs';

const option = options(
  { concurrency: [1, 16, 256], rounds: 6, ms: 120, settle: 100, warmUp: 500, patience: 200 },
  { rounds: 1, ms: 40, settle: 10, warmUp: 100, patience: 50 },
);
const server = await startRedis();
watchPorts(server.port);
const admin = new Admin(server.port);
const candidates = await setUp(await loadCandidates(option), server.port, option);

for (const concurrency of option.concurrency) {
  const servers = { admin, pids: [server.pid] };
  const samples = await measureCycles(candidates, concurrency, { ...option, ...servers });
  publish(option.out, {
    id: `uncontended-${concurrency}`,
    title: `Uncontended, concurrency ${concurrency} (${option.rounds} rounds of ${option.ms} ms)`,
    columns: CYCLE_COLUMNS,
    troubles: ['errors', 'error'],
    rows: summarise(samples, candidates, { ratios: CYCLE_RATIOS }),
    samples,
    concurrency,
  });
}
await tearDown(candidates);
admin.close();
await server.stop();
process.exit(0);
