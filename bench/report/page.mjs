import { table } from '../lib/table.mjs';
import { SECTIONS } from './texts.mjs';
import { judge } from './verdicts.mjs';

/** bench/RESULTS.md: every figure. */
export function makePage({ results, candidates, charts }) {
  return [
    '# Results of the benchmark',
    intro(results.machine),
    '## Targets',
    targets(judge(results)),
    violations(results),
    '## Candidates',
    candidateList(candidates),
    ...SECTIONS.flatMap((section) => sectionOf(section, results, charts)),
  ].join('\n\n');
}

function intro(machine = {}) {
  const {
    date,
    commit,
    cpu,
    cores,
    memory,
    system,
    node,
    redis,
    minutes,
    quick,
    seed,
    failed = [],
  } = machine;
  const lines = [
    '<!-- Made by `npm run bench`. Changes by hand are lost. -->',
    `What users compare is in [docs/performance.md](../docs/performance.md); how it is measured is in [README.md](README.md).

One run of \`npm run bench\` on ${date}${commit ? `, of commit ${commit}` : ''}: ${cpu}, ${cores} cores, ${memory}, ${system}, Node ${node}, Redis ${redis} on loopback without
persistence, ${minutes?.toFixed(1)} minutes. Client, server and harness share the machine. Absolute figures are of that machine; read the
ratios, which were formed within the run. All figures are medians over the quieter half of the rounds, where there were more than three;
\`noise\` is the share of time that the measured processes waited for a CPU, each other's turns included.`,
  ];
  if (seed !== undefined) lines.push(`Seed ${seed}. ${ORDER}`);
  if (quick) lines.push('**A quick run: few rounds, best configurations only. Not to be quoted.**');
  if (failed.length > 0) lines.push(`These parts failed and are missing: ${failed.join(', ')}.`);
  return lines.join('\n\n');
}

const ORDER = `README.md says which process each candidate was in. The number of rounds is in the title of each table, and the same for every
row. The order of the first round is below each table that has one; every later round begins one further on.`;

const WHY =
  '[Where the time goes](../docs/where-the-time-goes.md) says why, and what would have to change.';

function targets(verdicts) {
  const judged = verdicts.filter(({ met }) => met !== 'not measured');
  const missed = judged.filter(({ met }) => met !== 'yes');
  const open = verdicts.length - judged.length;
  const list = missed.map(
    ({ what, row, measured, limit }) => `${what} of \`${row}\` (${measured}, target ${limit})`,
  );
  const summary =
    missed.length === 0
      ? `All ${judged.length} targets that were measured are met.`
      : `${missed.length} of the ${judged.length} targets that were measured are missed: ${list.join('; ')}. ${WHY}`;
  const rest = open > 0 ? ` ${open} were not measured in this run.` : '';
  return `${summary}${rest}\n\n${table(['what', 'row', 'measured', 'limit', 'met'], verdicts)}`;
}

function candidateList(candidates) {
  return `Every peer is there as it comes and in the best configuration that it and its client document (\`-tuned\`). \`compared with\` is
the raw client that its ratios are formed with.\n\n${table(['name', 'library', 'configuration', 'compared with'], candidates)}`;
}

function sectionOf({ heading, tables, charts: wanted, text }, results, charts) {
  const found = Object.values(results)
    .filter(({ id }) => tables.test(id))
    .toSorted((a, b) => a.id.localeCompare(b.id, 'en', { numeric: true }));
  if (found.length === 0) return [`## ${heading}`, text, 'Not measured in this run.'];
  const drawn = charts.filter(({ file }) => wanted.includes(file));
  return [
    `## ${heading}`,
    text,
    ...drawn.map(({ file, title }) => `![${title}](charts/${file})`),
    ...found.flatMap(({ title, columns, rows, date, order = [], notes = [] }) => [
      `### ${title}`,
      ...(date ? [`Measured alone, on ${date}.`] : []),
      table(columns, rows),
      ...(order.length > 0 ? [`First round: ${order.join(', ')}.`] : []),
      ...notes.map((note) => `${note}.`),
    ]),
  ];
}

/** A lock that let two in at once is no lock, however fast. */
function violations(results) {
  const found = Object.values(results).flatMap(({ title, rows = [] }) =>
    rows.filter(({ overlaps }) => overlaps > 0).map(({ name }) => `\`${name}\` (${title})`),
  );
  if (found.length === 0) return 'No candidate let two holders in at once.';
  return `**Two holders were in at once with ${found.join(', ')}: their other figures there mean little.**`;
}
