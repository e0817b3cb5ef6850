import { readFileSync } from 'node:fs';
import { format } from '../lib/table.mjs';

/** Every target of targets.json with what the run says of it. */
export function judge(results) {
  const targets = JSON.parse(readFileSync(new URL('../targets.json', import.meta.url), 'utf8'));
  return targets.flatMap((target) => target.rows.map((row) => verdict(results, target, row)));
}

function verdict(results, { what, table, given = {}, column, min, max }, name) {
  const measured = rowOf(results[table], given, name)?.[column];
  const limit = min === undefined ? `≤ ${max}` : `≥ ${min}`;
  return {
    what,
    row: name,
    measured: format(measured ?? NaN),
    limit,
    met: met(measured, min, max),
  };
}

/** A table of other conditions, as a quick run makes them, says nothing of the target. */
function rowOf(table, given, name) {
  const isMeant = Object.entries(given).every(([field, value]) => table?.[field] === value);
  return isMeant ? table?.rows.find((row) => row.name === name) : undefined;
}

function met(measured, min = -Infinity, max = Infinity) {
  if (typeof measured !== 'number') return 'not measured'; // a NaN is kept as null
  return measured >= min && measured <= max ? 'yes' : '**no**';
}
