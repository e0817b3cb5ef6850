// The first locks of a process: each candidate alone in a fresh one, with nothing compiled and no connection but its own.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { loadCandidates } from './lib/candidates.mjs';
import { BENCH, options } from './lib/options.mjs';
import { publish } from './lib/results.mjs';
import { inRounds } from './lib/rounds.mjs';
import { startRedis } from './lib/servers.mjs';
import { summarise } from './lib/summary.mjs';

const option = options(
  { rounds: 7, cycles: 100, patience: 200 },
  { rounds: 1, cycles: 30, patience: 50 },
);
const server = await startRedis();
const candidates = await loadCandidates(option);

const samples = await inRounds(candidates, option, inFreshProcess);
publish(option.out, {
  id: 'cold',
  title: `The first ${option.cycles} locks of a process (${option.rounds} fresh processes each)`,
  columns: [
    'name',
    'first ms',
    'first ms/raw',
    'p50 µs',
    'p50 µs/raw',
    'all ms',
    'all ms/raw',
    'noise',
  ],
  rows: summarise(samples, candidates, { ratios: ['first ms', 'p50 µs', 'all ms'] }),
  samples,
});
await server.stop();
process.exit(0);

async function inFreshProcess({ name, file }) {
  const args = [join(BENCH, 'lib', 'cold-process.mjs'), file, name, server.port, option.cycles];
  const child = spawn(process.execPath, args.map(String), { stdio: ['ignore', 'pipe', 'inherit'] });
  const timer = setTimeout(() => child.kill('SIGKILL'), 30_000);
  const output = [];
  child.stdout.on('data', (chunk) => output.push(chunk));
  const [code] = await once(child, 'close');
  clearTimeout(timer);
  if (code === 0) return JSON.parse(Buffer.concat(output).toString());
  throw new Error('its fresh process failed');
}
