// What an uncontended lock costs: acquire and release on distinct keys, at several concurrencies.
import { CYCLE_COLUMNS, CYCLE_RATIOS } from './lib/cycles.mjs';
import { options } from './lib/options.mjs';
import { OwnProcesses } from './lib/own-processes.mjs';
import { publish } from './lib/results.mjs';
import { startRedis } from './lib/servers.mjs';
import { summarise } from './lib/summary.mjs';

const option = options(
  { concurrency: [1, 16, 256], rounds: 6, ms: 120, settle: 100, warmUp: 500, patience: 200 },
  { rounds: 1, ms: 40, settle: 10, warmUp: 100, patience: 50 },
);
const server = await startRedis();
const own = await OwnProcesses.start(option, server.port, [server.pid], {});

for (const concurrency of option.concurrency) {
  const samples = await own.cycles(concurrency, option);
  publish(option.out, {
    id: `uncontended-${concurrency}`,
    title: `Uncontended, concurrency ${concurrency} (${option.rounds} rounds of ${option.ms} ms)`,
    columns: CYCLE_COLUMNS,
    troubles: ['errors', 'error'],
    rows: summarise(samples, own.candidates, { ratios: CYCLE_RATIOS }),
    samples,
    concurrency,
  });
}
await own.stop();
await server.stop();
process.exit(0);
