import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { MemoryLockStore } from 'nest-holdfast';
import { DOCUMENTED_STORES } from './support/documented-stores.js';
import { featuresBlock, withFeatures } from './features-table.js';
import { ROOT } from './support/markdown.js';

describe('the table of features', () => {
  it('stands in docs/stores.md as the stores declare it (else: npm run docs:features)', () => {
    const page = readFileSync(join(ROOT, 'docs/stores.md'), 'utf8');
    expect(page).toBe(withFeatures(page));
  });

  it('has every store', () => {
    const documented = new Set(DOCUMENTED_STORES.map(({ folder }) => folder));
    const stores = readdirSync(join(ROOT, 'lib/stores')).filter((name) => name !== 'kit'); // which they share
    expect([...documented].toSorted()).toEqual(stores.toSorted());
  });

  it('says what a store declares', () => {
    const inMemory = DOCUMENTED_STORES.find(({ folder }) => folder === 'memory')!;
    const other = (differs: object) => ({
      ...inMemory,
      make: () => Object.assign(new MemoryLockStore(), differs),
    });
    const lines = featuresBlock([
      inMemory,
      other({ supports: { fencing: true, fencingFloor: false, ttl: false }, inspect: undefined }),
      other({ supports: { fencing: false, ttl: true, semaphores: 'polled' } }),
      other({ supports: { fencing: true, ttl: true, semaphores: true }, acquire: undefined }),
    ]).split('\n');
    const cells = lines.filter((line) => line.startsWith('|')).map((line) => line.split(/ *\| */));
    const columnsFrom = cells[0]!.indexOf('It ends with');
    expect(cells.slice(2).map((row) => row.slice(columnsFrom, -1))).toEqual([
      ['its ttl', 'for each key', 'in line', 'yes', 'in line', 'in one step', 'yes'],
      ['its session', 'over all keys', 'in line', 'no', 'no', 'one by one', 'no'],
      ['its ttl', 'no', 'in line', 'no', 'polling', 'one by one', 'yes'],
      ['its ttl', 'for each key', 'polling', 'no', 'polling', 'one by one', 'yes'],
    ]);
  });
});
