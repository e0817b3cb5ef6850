// `npm run mutation -- core/keys stores/memory`: mutants of these folders of lib, or of all. Verdicts of a run before are kept in
// reports/mutation, so that only changed code is judged anew.
import { spawnSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import folders from './folders.cjs';
import { table } from './scores.mjs';

const chosen = process.argv.slice(2);
mkdirSync('reports/mutation', { recursive: true });
for (const folder of chosen.length > 0 ? chosen : folders.ALL) {
  console.log(`\n── lib/${folder}`);
  // A seed, so that every run judges by the same tests.
  const env = { HOLDFAST_TEST_SEED: '1', ...process.env, HOLDFAST_MUTATION: folder };
  const stryker = ['node_modules/.bin/stryker', 'run', 'test/mutation/stryker.config.mjs'];
  const { status } = spawnSync(process.execPath, stryker, { stdio: 'inherit', env });
  if (status !== 0) process.exitCode = 1;
}
console.log(`\n${table(folders.ALL)}`);
