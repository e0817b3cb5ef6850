// Runs every part, one after the other, and makes the page of what they found. A part that fails is reported and the rest goes
// on. `--quick` is a smoke run, its page stays in out/. What else is on the command line goes to every part.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { BENCH, SEED, options } from './lib/options.mjs';
import { PROJECT } from './lib/project.mjs';
import { describeMachine } from './report/machine.mjs';

const PARTS = [
  'paced.mjs',
  'uncontended.mjs',
  'cold.mjs',
  'wrapper-cost.mjs',
  'coldstart.mjs',
  'contended.mjs',
  'processes.mjs',
  'crash.mjs',
  'renewal.mjs',
  'memory.mjs',
  'waiting.mjs',
  'redlock.mjs',
  'stores.mjs',
];
const LIMIT = 900_000;

if (!existsSync(join(BENCH, 'node_modules')) || !existsSync(join(PROJECT, 'dist'))) {
  console.error('First, in the project folder: npm ci && npm run build && npm --prefix bench ci');
  process.exit(1);
}
const { out, quick } = options();
rmSync(out, { recursive: true, force: true }); // the page is of one run
mkdirSync(out, { recursive: true });

const start = Date.now();
const failed = [];
for (const part of PARTS) await run(part);
const minutes = (Date.now() - start) / 60_000;
const machine = { id: 'machine', ...describeMachine(), minutes, quick, failed, seed: SEED };
writeFileSync(join(out, 'machine.json'), JSON.stringify(machine, null, 1));
await run('report.mjs');
process.exitCode = failed.length > 0 ? 1 : 0;

async function run(part) {
  const began = Date.now();
  const args = ['--expose-gc', join(BENCH, part), ...process.argv.slice(2)];
  const child = spawn(process.execPath, args, { stdio: 'inherit' });
  const timer = setTimeout(() => child.kill('SIGTERM'), LIMIT); // ends its servers and workers too
  const [code, signal] = await once(child, 'exit');
  clearTimeout(timer);
  if (code !== 0) failed.push(part);
  const outcome = code === 0 ? '' : `, failed with ${code ?? signal}`;
  console.log(`\n# ${part}: ${((Date.now() - began) / 1_000).toFixed(0)} s${outcome}`);
}
