import { mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { stray } from './stray.mjs';
import { table } from './table.mjs';

/**
 * Prints a table and keeps it with its samples in `out/<id>.json`, where the report finds it. The columns of `troubles` are
 * shown only when there are any.
 */
export function publish(out, { columns, troubles = [], ...record }) {
  const { id, title, rows } = record;
  const isTrouble = (value) => value !== undefined && value !== '' && value !== 0;
  const met = troubles.filter((column) => rows.some((row) => isTrouble(row[column])));
  const shown = [...columns, ...met];
  console.log(`\n## ${title}\n\n${table(shown, rows)}`);
  if (stray.count) console.log(`\nunhandled errors so far: ${stray.count} (last: ${stray.last})`);
  mkdirSync(out, { recursive: true });
  writeFileSync(join(out, `${id}.json`), JSON.stringify({ ...record, columns: shown }, null, 1));
}

/** All tables of a run by id. */
export function readResults(out) {
  const files = readdirSync(out).filter((file) => file.endsWith('.json'));
  const records = files.map((file) => JSON.parse(readFileSync(join(out, file), 'utf8')));
  return Object.fromEntries(records.map((record) => [record.id, record]));
}
