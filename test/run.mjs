// The whole test run: `npm test`. Every step is one check, every Jest test another; the last line counts them.
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { provideServers } from './run/provide-servers.mjs';
import { runAlone, runCompat, runComputing, runJest, runUncovered } from './run/run-jest.mjs';
import { runCommand } from './run/run-command.mjs';

const ROOT = join(dirname(fileURLToPath(import.meta.url)), '..');
process.chdir(ROOT);

/** A step counts what it checked. One that `needs` a step that failed is skipped. Those of one list run at the same time. */
const STEPS = [
  [
    { name: 'build', run: command('npm', 'run', '--silent', 'build') },
    { name: 'typecheck', run: command('npm', 'run', '--silent', 'typecheck') },
  ],
  [
    { name: 'lint', run: command('npm', 'run', '--silent', 'lint') },
    { name: 'format', run: command('npm', 'run', '--silent', 'format:check') },
  ],
  [{ name: 'jest', run: runJest }],
  [{ name: 'jest, without coverage', run: runComputing }],
  [{ name: 'jest, faults', run: runUncovered }],
  [{ name: 'jest, one at a time', run: runAlone }],
  [{ name: 'Nest 10 and 11', run: runCompat }],
  [
    { name: 'publint', needs: 'build', run: command('npx', 'publint', 'run', '.') },
    ...(existsSync('sample-app/main.ts')
      ? [{ name: 'sample app', needs: 'build', run: command('npx', 'nest', 'build') }]
      : []),
  ],
  [{ name: 'types', needs: 'build', run: command('npx', 'attw', '--pack', '.') }],
];

try {
  await provideServers();
} catch (error) {
  console.error(error.message);
  process.exit(1);
}

const total = { passed: 0, failed: 0, skipped: 0 };
const failedSteps = new Set();
for (const steps of STEPS) await Promise.all(steps.map(take));

if (failedSteps.size > 0) console.log(`\nNot passed: ${[...failedSteps].join(', ')}`);
const skipped = total.skipped > 0 ? `, ${total.skipped} skipped` : '';
console.log(`\n${total.passed} passed, ${total.failed} failed${skipped}`);
process.exitCode = total.failed > 0 || failedSteps.size > 0 ? 1 : 0;

async function take({ name, needs, run }) {
  console.log(`\n── ${name}`);
  const startedAt = performance.now();
  const isSkipped = failedSteps.has(needs);
  const counts = isSkipped ? { skipped: 1 } : await run();
  if (counts.failed || isSkipped) failedSteps.add(name);
  for (const [kind, count] of Object.entries(counts)) total[kind] += count;
  const seconds = ((performance.now() - startedAt) / 1_000).toFixed(1);
  console.log(
    `── ${name}: ${counts.failed ? 'FAILED' : counts.passed ? 'passed' : 'skipped'}, ${seconds} s`,
  );
}

function command(...words) {
  return async () => ((await runCommand(words)) === 0 ? { passed: 1 } : { failed: 1 });
}
