// What an application sees: a lock now and then, in a process that does other work in between, so that every cycle finds cold
// caches and half-warm code. Then the same right after a garbage collection, which every application has now and then.
import { options } from './lib/options.mjs';
import { OwnProcesses } from './lib/own-processes.mjs';
import { publish } from './lib/results.mjs';
import { startRedis } from './lib/servers.mjs';
import { summarise } from './lib/summary.mjs';

const option = options(
  { rounds: 8, cycles: 20, warmUp: 60, every: 15, collected: 6 },
  { rounds: 2, cycles: 10, warmUp: 10, collected: 2 },
);
const { every, warmUp, cycles } = option;
const server = await startRedis();
const own = await OwnProcesses.start(option, server.port, [server.pid], {});

await own.inRounds({ rounds: 1 }, 'paced', () => ({ every, cycles: warmUp }));
await part('paced', 'A lock now and then', { rounds: option.rounds, cycles, collects: false });
await part('collected', 'A lock right after a garbage collection', {
  rounds: option.collected,
  cycles: Math.ceil(cycles / 2),
  collects: true,
});
await own.stop();
await server.stop();
process.exit(0);

async function part(id, title, { rounds, ...request }) {
  const samples = await own.inRounds({ rounds }, 'paced', () => ({ every, ...request }));
  publish(option.out, {
    id,
    title: `${title} (${rounds} rounds of ${request.cycles} cycles each)`,
    columns: ['name', 'p50 µs', 'p50 µs/raw', 'p90 µs', 'acquire µs', 'release µs', 'noise'],
    troubles: ['errors', 'error'],
    rows: summarise(samples, own.candidates, { ratios: ['p50 µs'] }),
    samples,
  });
}
