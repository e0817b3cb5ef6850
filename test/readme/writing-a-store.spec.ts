import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';
import { ROOT, readPage } from './support/markdown.js';

const PAGE = readPage('docs/writing-a-store.md');
const CONTRACTS = ['LockStore', 'LockStoreFeatures', 'AcquireRequest', 'Lease'];

/** The blocks of the page that are files, as files. */
const directory = mkdtempSync(join(__dirname, 'blocks-')); // inside the project, so that imports resolve as a user's do
const names = PAGE.blocks.flatMap(({ marks, code }) => {
  const name = marks.find((mark) => mark.startsWith('file='))?.slice('file='.length);
  if (!name) return [];
  writeFileSync(join(directory, name), code);
  return name;
});

afterAll(() => rmSync(directory, { recursive: true, force: true }));

require(join(directory, 'table-lock.store.spec.ts')); // defines the tests, here and now

describe('docs/writing-a-store.md', () => {
  it('has a store in forty lines, and a spec', () => {
    expect(names).toEqual(['table-lock.store.ts', 'table-lock.store.spec.ts']);
    expect(PAGE.blocks[0]!.code.trimEnd().split('\n').length).toBeLessThanOrEqual(40);
  });

  it.each(CONTRACTS)('lists every member of %s', (contract) => {
    expect(membersInTable(contract).toSorted()).toEqual(membersOf(contract).toSorted());
  });
});

/** The first column of the table below the heading that is the name. */
function membersInTable(contract: string): string[] {
  const [, section = ''] = PAGE.prose.split(`### \`${contract}\`\n`);
  const rows = section.split(/^##/m)[0]!.matchAll(/^\| `(\w+)(\??)(\([^`]*)?`/gm);
  return [...rows].map(([, name, optional]) => name! + optional!);
}

/** `name?` where it may be missing. With the members of the interfaces that the contract extends. */
function membersOf(contract: string): string[] {
  const { members, heritageClauses = [] } = interfaces().find(
    ({ name }) => name.text === contract,
  )!;
  const bases = heritageClauses.flatMap(({ types }) => types.map(({ expression }) => expression));
  return [
    ...members.map(
      ({ name, questionToken }) => (name as ts.Identifier).text + (questionToken ? '?' : ''),
    ),
    ...bases.flatMap((base) => membersOf((base as ts.Identifier).text)),
  ];
}

function interfaces(): ts.InterfaceDeclaration[] {
  return ['lock-store.ts', 'lock-store-features.ts', 'quorum-node.ts', 'eviction.ts'].flatMap(
    (file) => {
      const text = readFileSync(join(ROOT, 'lib/core/contract', file), 'utf8');
      const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest);
      return source.statements.filter(ts.isInterfaceDeclaration);
    },
  );
}
