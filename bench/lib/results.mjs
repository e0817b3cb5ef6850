import { mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { BENCH, SEED } from './options.mjs';
import { orderIn } from './rounds.mjs';
import { stray } from './stray.mjs';
import { table } from './table.mjs';

/**
 * Prints a table and keeps it with its samples in `out/<id>.json`, where the report finds it. The columns of `troubles` are
 * shown only when there are any. `order`: that of the first round.
 */
export function publish(out, { columns, troubles = [], ...record }) {
  const { id, title, rows, samples = [], order = orderIn(samples) } = record;
  const isTrouble = (value) => value !== undefined && value !== '' && value !== 0;
  const met = troubles.filter((column) => rows.some((row) => isTrouble(row[column])));
  const shown = [...columns, ...met];
  console.log(`\n## ${title}\n\n${table(shown, rows)}`);
  if (order.length > 0) console.log(`\nseed ${SEED}; first round: ${order.join(', ')}`);
  if (stray.count) console.log(`\nunhandled errors so far: ${stray.count} (last: ${stray.last})`);
  mkdirSync(out, { recursive: true });
  const kept = { ...record, columns: shown, order };
  writeFileSync(join(out, `${id}.json`), JSON.stringify(kept, null, 1));
}

/** All tables of a run by id. */
export function readResults(out) {
  const files = readdirSync(out).filter((file) => file.endsWith('.json'));
  const records = files.map((file) => JSON.parse(readFileSync(join(out, file), 'utf8')));
  return Object.fromEntries(records.map((record) => [record.id, record]));
}

const KEPT = join(BENCH, 'results.json');

/** What a whole run found, without its samples: the figures of the pages, until the next one. */
export function keep(results, candidates) {
  const tables = Object.values(results).map(withoutSamples);
  const kept = { candidates, tables: tables.toSorted((a, b) => (a.id < b.id ? -1 : 1)) };
  writeFileSync(KEPT, `${JSON.stringify(kept, null, 1)}\n`);
  return readKept();
}

export function readKept() {
  const { candidates, tables } = JSON.parse(readFileSync(KEPT, 'utf8'));
  return { candidates, results: Object.fromEntries(tables.map((table) => [table.id, table])) };
}

/** Puts tables that were measured alone beside those that are kept, with their date. */
export function addTables(ids, found) {
  const { candidates, results } = readKept();
  const date = new Date().toISOString().slice(0, 10);
  const added = Object.fromEntries(ids.map((id) => [id, { ...found[id], date }]));
  return keep({ ...results, ...added }, candidates);
}

function withoutSamples({ samples: _, ...table }) {
  return table;
}
