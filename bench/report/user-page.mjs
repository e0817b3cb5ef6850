import { table } from '../lib/table.mjs';
import { LIBRARIES, figureOf, inThousands } from './comparison.mjs';

const [OURS, ...PEERS] = LIBRARIES.map(({ name }) => name);

/** docs/performance.md: what a user compares, in one table, with charts, and in words where we lose. */
export function makeUserPage({ results, comparison, charts }) {
  const machine = results.machine ?? {};
  return [
    '# Performance',
    '<!-- Made by `npm run bench`. Changes by hand are lost. -->',
    intro(machine),
    comparisonTable(comparison),
    explanation(comparison, machine),
    '## Callers that wait',
    ...pictures(charts, 'waiting.svg'),
    WAITING,
    '## What a lock costs',
    ...pictures(charts, 'cost.svg'),
    '## Where another library is better',
    losses(comparison),
    '## More figures',
    MORE,
  ].join('\n\n');
}

function intro({ date, commit, cpu, cores, system, node, redis, quick }) {
  const of = commit ? `commit ${commit}, ` : '';
  const lines = [
    `Holdfast on one Redis, beside the libraries that people use instead. The figures are those of one run on ${date}: ${of}${cpu}, ${cores}
cores, ${system}, Node ${node}, Redis ${redis}. Clients and server share that machine, so compare the columns and not the absolute numbers.`,
  ];
  if (quick) lines.push('**A quick run: few rounds. Not to be quoted.**');
  return lines.join('\n\n');
}

function comparisonTable(comparison) {
  const columns = ['', OURS, ...PEERS];
  const rows = comparison.map((row) => {
    const cells = row.cells.map((cell) => textOf(cell, row));
    const what = `${row.what}: ${row.unit}`;
    return Object.fromEntries(columns.map((column, index) => [column, [what, ...cells][index]]));
  });
  return table(columns, rows);
}

function textOf(cell, { best, all }) {
  if (!cell) return 'cannot';
  const figure = figureOf(cell, all);
  return !cell.of && cell.value === best ? `**${figure}**` : figure;
}

/** Other dates than the run's are those of parts that were measured alone. */
function explanation(comparison, { date }) {
  const others = comparison.filter((row) => row.date && row.date !== date);
  const later = others.map((row) => `- The row "${row.what}" was measured alone, on ${row.date}.`);
  return [
    `- The best figure of a row is bold.
- Each library was measured twice, with its defaults and with the best settings that it documents; redlock also in versions 4 and 5. Each
  row shows its better result. Holdfast was measured with its defaults alone.
- A caller waits for at most 5 s. A time with "for … of …" behind it is that of the callers who had the key; the others had given up.
- "cannot": the library does not extend its locks.`,
    ...later,
  ].join('\n');
}

const WAITING = `Holdfast keeps the callers of a process in a queue, and hands the lock from one to the next without a command. Between processes, the
release wakes the first waiter. The other libraries ask again after a delay. A short delay costs commands, and a long one costs time.`;

/** Why another one is ahead, by row. */
const REASONS = {
  'uncontended-1':
    'Every grant counts a fencing token, and every lock is watched: its loss, its end, its events.',
  'uncontended-16':
    'Many locks at once share commands, which makes up for most of what a lock costs in the client.',
  memory:
    'Holdfast keeps 1,024 counters of fencing tokens, which all keys share: ten million keys leave no more. They expire within an hour.',
  renewal:
    "Holdfast extends at a third of the ttl. The others extend in its last fifth or sixth. That takes less of the client's time, but they lose their locks when the server stands still for a second.",
};

function losses(comparison) {
  const lost = comparison.filter(({ cells: [own], best }) => own && own.value !== best);
  if (lost.length === 0) return 'In no row of this table.';
  return lost.map((row) => `- ${lossOf(row)}`).join('\n');
}

function lossOf({ what, unit, cells: [own, ...others], best, table: id }) {
  const index = others.findIndex((cell) => cell?.value === best);
  const reason = REASONS[id] ? ` ${REASONS[id]}` : '';
  return `**${what}**: ${PEERS[index]} has ${inThousands(best)}, Holdfast ${inThousands(own.value)} (${unit}).${reason}`;
}

const MORE = `- [All tables](../bench/RESULTS.md): raw ioredis, more libraries, five servers, other stores, dead and hung processes, import time, and the
  targets of this project with those that are missed.
- [Where the time goes](where-the-time-goes.md): a profile of one lock.
- [What locks take of the memory of Redis](stores/redis.md#what-it-costs).
- [bench/README.md](../bench/README.md): how it is measured, and how to measure on your machines.`;

function pictures(charts, file) {
  return charts
    .filter((each) => each.file === file)
    .map(({ title }) => `![${title}](charts/${file})`);
}
