import { format } from '../lib/table.mjs';

/** The rows of the comparison: each library in the better of its configurations, row by row. Ours is as it comes. */
export const LIBRARIES = [
  { name: 'nest-holdfast', candidates: ['holdfast'] },
  { name: 'redlock', candidates: ['redlock5', 'redlock5-tuned', 'redlock4', 'redlock4-tuned'] },
  { name: 'redis-semaphore', candidates: ['redis-semaphore', 'redis-semaphore-tuned'] },
  { name: '@anchan828/nest-redlock', candidates: ['nest-redlock', 'nest-redlock-tuned'] },
  {
    name: '@huangang/nestjs-simple-redis-lock',
    candidates: ['nestjs-simple-redis-lock', 'nestjs-simple-redis-lock-tuned'],
  },
];

/** Fewer is better, unless a row says `most`. `all` is the number of grants without which a time is not that of all callers. */
const ROWS = [
  {
    what: '128 callers of one process want one key',
    unit: 'ms until all have had it',
    table: 'contended-128',
    column: 'total ms',
    all: 128,
  },
  {
    what: '1,000 callers of one process want one key',
    unit: 'ms until all have had it',
    table: 'contended-1000',
    column: 'total ms',
    all: 1_000,
  },
  {
    what: '4 processes with 32 callers each want one key',
    unit: 'ms until all have had it',
    table: 'processes-burst',
    column: 'total ms',
    all: 128,
  },
  {
    what: 'A key that no other caller wants, one at a time',
    unit: 'locks per second',
    table: 'uncontended-1',
    column: 'cycles/s',
    most: true,
  },
  {
    what: 'The same, 16 at a time',
    unit: 'locks per second',
    table: 'uncontended-16',
    column: 'cycles/s',
    most: true,
  },
  {
    what: '10,000 locks that are held and extended',
    unit: '% of one core of the client',
    table: 'renewal',
    column: 'client %',
  },
  {
    what: 'The same, commands',
    unit: 'per lock and ttl',
    table: 'renewal',
    column: 'commands/lock/ttl',
  },
  {
    what: '1,000 held locks, and the server stands still for 1 s',
    unit: 'locks that are lost',
    table: 'pause',
    column: 'lost',
  },
  {
    what: '10,000 keys that were locked and released',
    unit: 'bytes that Redis keeps for each, until they expire',
    table: 'memory',
    column: 'bytes left/key',
  },
];

/** By row, the figure of each library: `{ value, of }`, `of` being the grants where not all callers had one. Missing: it cannot. */
export function compare(results) {
  return ROWS.flatMap((row) => {
    const table = results[row.table];
    if (!table) return [];
    const cells = LIBRARIES.map(({ candidates }) => cellOf(table, row, candidates));
    return [{ ...row, date: table.date, cells, best: bestOf(cells, row) }];
  });
}

function cellOf({ rows }, row, candidates) {
  const found = candidates.flatMap((name) => rows.find((each) => each.name === name) ?? []);
  const cells = found
    .filter((each) => typeof each[row.column] === 'number')
    .map((each) => ({
      candidate: each.name,
      value: each[row.column],
      of: row.all && each.grants < row.all ? each.grants : undefined,
    }));
  return cells.toSorted(better(row))[0];
}

/** One that served all callers is better than one that did not, and then one that served more. */
function better({ most }) {
  return (a, b) =>
    (b.of ?? Infinity) - (a.of ?? Infinity) || (most ? b.value - a.value : a.value - b.value) || 0;
}

function bestOf(cells, row) {
  const [best] = cells.filter((cell) => cell && !cell.of).toSorted(better(row));
  return best?.value;
}

/** In words: `5,016, for 635 of 1,000`. */
export function figureOf({ value, of }, all) {
  return of
    ? `${inThousands(value)}, for ${inThousands(of)} of ${inThousands(all)}`
    : inThousands(value);
}

/** As the prose writes numbers: `32,164`. */
export function inThousands(value) {
  return format(value).replace(/\B(?=(\d{3})+$)/g, ',');
}
