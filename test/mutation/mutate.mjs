// `npm run mutation -- core/keys stores/memory`: mutants of these folders of lib, or of all. Verdicts of a run before are kept in
// reports/mutation, so that only changed code is judged anew.
import { spawnSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import folders from './folders.cjs';
import { table } from './scores.mjs';

const chosen = process.argv.slice(2);
mkdirSync('reports/mutation', { recursive: true });
for (const room of folders.ROOMS) {
  const own = chosen.length > 0 ? chosen.filter((each) => folders.roomOf(each) === room) : [room];
  if (own.length === 0) continue;
  console.log(`\n── lib/${own.join(', lib/')}`);
  // A seed, so that every run judges by the same tests.
  const env = { HOLDFAST_TEST_SEED: '1', ...process.env, HOLDFAST_MUTATION: own.join(',') };
  const stryker = ['node_modules/.bin/stryker', 'run', 'test/mutation/stryker.config.mjs'];
  const { status } = spawnSync(process.execPath, stryker, { stdio: 'inherit', env });
  if (status !== 0) process.exitCode = 1;
}
console.log(`\n${table()}`);
