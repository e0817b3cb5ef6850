import type { LockStore } from 'nest-holdfast/core';
import { DOCUMENTED_STORES } from './support/documented-stores.js';
import type { DocumentedStore } from './support/documented-stores.js';

const START = '<!-- features -->';
const END = '<!-- /features -->';

/** How a column is called, and what it says of a store. */
const COLUMNS: Readonly<Record<string, (documented: DocumentedStore, store: LockStore) => string>> =
  {
    Store: ({ name, folder }) => `[${name}](stores/${folder}.md)`,
    Import: ({ entry }) => `\`${entry}\``,
    'A lock survives': ({ survives }) => survives,
    'It ends with': (_, { supports }) => (supports.ttl ? 'its ttl' : 'its session'),
    'Fencing tokens grow': (_, { supports }) => {
      if (!supports.fencing) return 'no';
      return supports.fencingFloor === false ? 'over all keys' : 'for each key';
    },
    'Processes wait': (_, store) => (store.acquire ? 'in line' : 'polling'),
    'Read locks': (_, { supports }) => (supports.readLocks ? 'yes' : 'no'),
    Semaphores: (_, store) => {
      if (!store.supports.semaphores) return 'no';
      return store.supports.semaphores === true && store.acquire ? 'in line' : 'polling';
    },
    'Several keys': (_, { supports }) => (supports.manyKeys ? 'in one step' : 'one by one'),
    '`inspect`': (_, store) => (store.inspect ? 'yes' : 'no'),
  };

/** The part of docs/stores.md between the two comments, and the comments themselves. */
export function featuresBlock(stores: readonly DocumentedStore[] = DOCUMENTED_STORES): string {
  const made = stores.map((documented) => ({ documented, store: documented.make() }));
  const columns = Object.values(COLUMNS);
  const rows = made.map(({ documented, store }) => columns.map((say) => say(documented, store)));
  return [START, table([Object.keys(COLUMNS), ...rows]), END].join('\n\n');
}

/** The text of docs/stores.md with the table as it should be. */
export function withFeatures(page: string): string {
  const [before, rest] = cut(page, START);
  const [, after] = cut(rest, END);
  return before + featuresBlock() + after;
}

function cut(text: string, at: string): [before: string, after: string] {
  const index = text.indexOf(at);
  if (index < 0) throw new Error(`docs/stores.md has no ${at}`);
  return [text.slice(0, index), text.slice(index + at.length)];
}

/** As prettier would have it. */
function table([head, ...body]: readonly (readonly string[])[]): string {
  const widths = head!.map((_, column) =>
    Math.max(...[head!, ...body].map((row) => row[column]!.length)),
  );
  const rule = widths.map((width) => '-'.repeat(width));
  const line = (row: readonly string[]) =>
    `| ${row.map((cell, column) => cell.padEnd(widths[column]!)).join(' | ')} |`;
  return [head!, rule, ...body].map(line).join('\n');
}
