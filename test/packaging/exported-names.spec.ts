import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { exportedSymbols } from '../support/exported-symbols.js';

/** The exports of each entry of the package, and their former names. A name that changes is changed here, too. */
const KNOWN = require('./exported-names.json') as {
  readonly names: Readonly<Record<string, readonly string[]>>;
  readonly renamed: Readonly<Record<string, string>>;
};
const CHANGELOG = readFileSync(join(__dirname, '..', '..', 'CHANGELOG.md'), 'utf8');

describe('The names that the package exports', () => {
  const { entries } = exportedSymbols();
  const names = Object.fromEntries(
    [...entries].map(([entry, symbols]) => [entry, [...symbols.keys()].toSorted()]),
  );

  it.each(Object.keys(KNOWN.names))('are those of exported-names.json: %s', (entry) => {
    expect(names[entry]).toEqual(KNOWN.names[entry]);
  });

  it('belong to the entries of exported-names.json', () => {
    expect(Object.keys(names)).toEqual(Object.keys(KNOWN.names));
  });

  it.each(Object.entries(KNOWN.renamed))('tell in CHANGELOG.md that %s is %s', (before, now) => {
    const all = Object.values(names).flat();
    expect(all).not.toContain(before);
    expect(CHANGELOG).toContain(`\`${before}\``);
    expect(CHANGELOG).toMatch(new RegExp(`\`(\\w+\\.)?${now}\``));
  });
});
