// The test runs: `npm test`, and `npm run test:all` with all that takes minutes. Each step is one check, each Jest test
// another; the last line counts them.
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { adviceOn, provideServers } from './run/provide-servers.mjs';
import { runCompat, runKind, runSpecs, slowestSpecs, specsThatNeed } from './run/run-jest.mjs';
import { runCommand } from './run/run-command.mjs';

const ROOT = join(dirname(fileURLToPath(import.meta.url)), '..');
process.chdir(ROOT);

const runsAll = process.argv.includes('--all');
const missing = await provideServers();
if (missing.length > 0) console.log(adviceOn(missing));
const leftOut = await specsThatNeed(missing);

const build = { name: 'build', run: command('npm', 'run', '--silent', 'build') };
const typecheck = { name: 'typecheck', run: command('npm', 'run', '--silent', 'typecheck') };
const lint = { name: 'lint', run: command('npm', 'run', '--silent', 'lint') };
const format = { name: 'format', run: command('npm', 'run', '--silent', 'format:check') };

/** A step counts what it checked. One that `needs` a step that failed is skipped. The steps of one list run together. */
const QUICK = [
  [build, typecheck],
  [lint, { name: 'specs', run: () => runSpecs({ leftOut }) }], // specs leave a tenth of the processors free
];
const SLOW = [
  [{ name: 'faults', run: () => runKind('fault', { leftOut }) }],
  [{ name: 'variants', run: () => runKind('variant', { leftOut }) }],
  [{ name: 'models', run: () => runKind('model', { leftOut }) }],
  [{ name: 'processes', run: () => runKind('process', { leftOut, alone: true }) }],
  [{ name: 'Nest 10 and 11', run: runCompat }],
  [
    format,
    { name: 'publint', needs: 'build', run: command('npx', 'publint', 'run', '.') },
    { name: 'sample app', needs: 'build', run: command('npx', 'nest', 'build') },
  ],
  [{ name: 'types', needs: 'build', run: command('npx', 'attw', '--pack', '.') }],
];

const total = { passed: 0, failed: runsAll ? missing.length : 0, skipped: leftOut.length };
const failedSteps = new Set();
for (const steps of [...QUICK, ...(runsAll ? SLOW : [])]) await Promise.all(steps.map(take));

console.log(`\nThe slowest specs:\n${slowestSpecs(10).join('\n')}`);
if (leftOut.length > 0) console.log(`\nLeft out, for want of a server: ${leftOut.join(', ')}`);
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
