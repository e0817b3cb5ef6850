// Makes docs/performance.md for users, and bench/RESULTS.md with every figure, each with its charts. A whole run in out/ is kept in
// bench/results.json before; a quick one makes its pages in out/. `--kept` makes the pages from what is kept, and `--add memory` puts
// single tables of out/ there first, each with its date.
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { loadCandidates } from './lib/candidates.mjs';
import { BENCH, options } from './lib/options.mjs';
import { PROJECT, projectRequire } from './lib/project.mjs';
import { addTables, keep, readKept, readResults } from './lib/results.mjs';
import { SYSTEMS } from './lib/systems.mjs';
import { drawCharts } from './report/charts.mjs';
import { compare } from './report/comparison.mjs';
import { drawComparison } from './report/comparison-charts.mjs';
import { describeCandidates } from './report/machine.mjs';
import { makePage } from './report/page.mjs';
import { makeUserPage } from './report/user-page.mjs';

const { out, kept, add, to } = options({ kept: false, add: '', to: '' });
const { results, candidates } = await figures();
const isQuick = results.machine?.quick;
const docs = to || (isQuick ? out : join(PROJECT, 'docs'));
const raw = to || (isQuick ? out : BENCH);

const comparison = compare(results);
const shown = drawComparison(comparison);
await write(docs, 'performance.md', makeUserPage({ results, comparison, charts: shown }), shown);
const charts = drawCharts(results);
await write(raw, 'RESULTS.md', makePage({ results, candidates, charts }), charts);
process.exit(0);

/** Those of the run in out/, which are kept where it is whole; or those that are kept. */
async function figures() {
  if (kept) return readKept();
  if (add) return addTables(add.split(','), readResults(out));
  const found = readResults(out);
  const described = describeCandidates(await loadAll(), found);
  return found.machine && !found.machine.quick
    ? keep(found, described)
    : { results: found, candidates: described };
}

async function loadAll() {
  const systems = SYSTEMS.filter((system) => system.folder);
  const others = systems.map((system) => loadCandidates({}, system.feature, system.folder));
  return (await Promise.all([loadCandidates({}), ...others])).flat();
}

async function write(folder, name, page, drawn) {
  const pictures = join(folder, 'charts');
  if (!to && !isQuick) rmSync(pictures, { recursive: true, force: true }); // those of tables that are no more
  mkdirSync(pictures, { recursive: true });
  for (const { file, svg } of drawn) writeFileSync(join(pictures, file), svg);
  const prettier = projectRequire('prettier');
  const text = await prettier.format(page, { parser: 'markdown', printWidth: 100 });
  writeFileSync(join(folder, name), text);
  console.log(`\n# wrote ${join(folder, name)} and ${drawn.length} charts`);
}
