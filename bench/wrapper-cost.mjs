// What the decorated method and withLock cost on top of the two commands that no lock on Redis can do without: SET NX PX and a
// compare-and-delete by EVALSHA, on the very same connection. Each of them is in a process of its own.
import { options } from './lib/options.mjs';
import { publish } from './lib/results.mjs';
import { inRounds } from './lib/rounds.mjs';
import { startRedis } from './lib/servers.mjs';
import { median } from './lib/stats.mjs';
import { Worker } from './lib/workers.mjs';

const option = options(
  { concurrency: [1, 16, 64, 256], rounds: 80, ms: 40, settle: 40, warmUp: 1_500 },
  { concurrency: [1, 64], rounds: 4, ms: 60, settle: 10, warmUp: 60 },
);
const server = await startRedis();
const candidates = [];
for (const name of ['@DistributedLock', 'withLock']) {
  const worker = new Worker('decorated-worker.mjs');
  candidates.push({
    name,
    worker,
    costs: await worker.call('setUp', { name, port: server.port }),
  });
}

for (const concurrency of option.concurrency) {
  const { rounds, ms, settle, warmUp } = option;
  for (const { worker } of candidates) await worker.call('warmUp', { concurrency, ms: warmUp });
  const samples = await inRounds(candidates, { rounds }, ({ worker }, round) =>
    worker.call('pair', { concurrency, ms, settle, round }),
  );
  publish(option.out, {
    id: `decorated-${concurrency}`,
    title: `The decorated call, concurrency ${concurrency} (${rounds} rounds of ${ms} ms)`,
    columns: [
      'name',
      'cycles/s',
      'raw cycles/s',
      'rate/raw',
      'cost/raw',
      'ratio min…max',
      'commands',
      'writes',
    ],
    rows: candidates.map((each) => rowOf(each, samples)),
    samples,
    concurrency,
  });
}
await Promise.all(candidates.map(({ worker }) => worker.stop()));
await server.stop();
process.exit(0);

/** Medians over many short rounds, because the machine changes its pace within seconds. The ratios are those of the pairs. */
function rowOf({ name, costs }, samples) {
  const own = samples.filter((sample) => sample.name === name);
  const ratios = own.map(({ rate, base }) => rate / base);
  const spread = [Math.min(...ratios), Math.max(...ratios)];
  return {
    name,
    'cycles/s': median(own.map(({ rate }) => rate)),
    'raw cycles/s': median(own.map(({ base }) => base)),
    'rate/raw': median(ratios),
    'cost/raw': 1 / median(ratios),
    'ratio min…max': spread.map((each) => each.toFixed(2)).join('…'),
    ...costs,
  };
}
