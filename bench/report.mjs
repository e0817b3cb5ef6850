// Makes docs/performance.md and docs/charts from the tables of a whole run; from those of a quick run, the same in out/.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { loadCandidates } from './lib/candidates.mjs';
import { options } from './lib/options.mjs';
import { PROJECT, projectRequire } from './lib/project.mjs';
import { readResults } from './lib/results.mjs';
import { SYSTEMS } from './lib/systems.mjs';
import { drawCharts } from './report/charts.mjs';
import { describeCandidates } from './report/machine.mjs';
import { makePage } from './report/page.mjs';

const { out } = options();
const results = readResults(out);
const isWhole = results.machine && !results.machine.quick;
const folder = isWhole ? join(PROJECT, 'docs') : out;
const candidates = describeCandidates(await loadAll(), results);
const charts = drawCharts(results);

mkdirSync(join(folder, 'charts'), { recursive: true });
for (const { file, svg } of charts) writeFileSync(join(folder, 'charts', file), svg);
const page = makePage({ results, candidates, charts });
writeFileSync(join(folder, 'performance.md'), await pretty(page));
console.log(`\n# wrote ${join(folder, 'performance.md')} and ${charts.length} charts`);
process.exit(0);

async function loadAll() {
  const systems = SYSTEMS.filter((system) => system.folder);
  const others = systems.map((system) => loadCandidates({}, system.feature, system.folder));
  return (await Promise.all([loadCandidates({}), ...others])).flat();
}

function pretty(markdown) {
  const prettier = projectRequire('prettier');
  return prettier.format(markdown, { parser: 'markdown', printWidth: 100 });
}
