import { existsSync, readdirSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { problemsOf } from './support/compile.js';
import { ROOT, pagePaths, parsePage, readPage } from './support/markdown.js';
import type { Page } from './support/markdown.js';
import { STOCK_PROJECTS, asWrittenIn } from './support/stock-projects.js';

const STORE_HEADINGS = ['What it promises', 'Set-up', 'How it works', 'What it costs', 'Limits'];

/** Milliseconds. Some six seconds of a core. */
const COMPILES_WITHIN = 600_000;

const pages = pagePaths().map(readPage);
/** The reader of docs/writing-a-store.md is in this repository. */
const users = pages.filter(({ path }) => path !== 'docs/writing-a-store.md');
/** Beside them lies what they share. */
const stores = readdirSync(join(ROOT, 'lib/stores'))
  .filter((name) => name !== 'kit')
  .toSorted();

describe('the pages', () => {
  it(
    'have code that compiles',
    () => {
      expect(problemsOf(pages.flatMap(({ blocks }) => blocks))).toEqual([]);
    },
    COMPILES_WITHIN,
  );

  it.each(STOCK_PROJECTS)(
    'have code that compiles in a new project of $name',
    (stock) => {
      const blocks = pages.flatMap((page) => page.blocks);
      expect(problemsOf(blocks, stock)).toEqual([]);
    },
    COMPILES_WITHIN,
  );

  it('import files as the tests of a new project find them: without an extension', () => {
    const imports = users.flatMap(importsOfFiles);
    expect(imports.filter((each) => each.endsWith('.js'))).toEqual([]);
  });

  it('say how a project of ES modules imports these files, as `nest new` of Nest 12 makes one', () => {
    const importing = users.filter((page) => importsOfFiles(page).length > 0);
    expect(importing.length).toBeGreaterThan(2);
    const silent = importing.filter(({ prose }) => !/`'\.\/[\w.-]+\.js'`/.test(prose));
    expect(silent.map(({ path }) => path)).toEqual([]);
  });

  it.each(pages)('$path links to what exists', ({ path, prose }) => {
    const links = [...prose.matchAll(/\]\(([^)\s]+)\)/g)].map(([, target]) => target!);
    expect(links.filter((target) => !leadsSomewhere(path, target))).toEqual([]);
  });
});

describe('docs/stores', () => {
  it.each(stores)('has a page for %s, with the five headings', (store) => {
    const { headings } = readPage(`docs/stores/${store}.md`);
    expect(headings.filter(({ level }) => level === 1)).toHaveLength(1);
    expect(headings.filter(({ level }) => level === 2).map(({ text }) => text)).toEqual(
      STORE_HEADINGS,
    );
  });

  it('has pages of stores only', () => {
    expect(readdirSync(join(ROOT, 'docs/stores')).toSorted()).toEqual(
      stores.map((store) => `${store}.md`),
    );
  });
});

it('the code of a page is written down as the modules of a project want it', () => {
  const code = "import { one } from './one';\nawait one();\nexport const two = 2;\n";
  const [commonjs, , modules] = STOCK_PROJECTS.map((stock) => asWrittenIn(stock, code));
  expect(commonjs!.split('\n').map((line) => line.trim())).toEqual([
    "import { one } from './one'; export async function example() {",
    'await one();',
    'const two = 2;',
    '',
    '}',
  ]);
  expect(modules).toBe(code.replace('./one', './one.mjs'));
});

it('the check of code blocks names the page, the line and the heading', () => {
  const page = `
# Title
\`\`\`ts file=one.ts
export const one = 1;
\`\`\`
\`\`\`ts continued
one.two();
\`\`\`
\`\`\`ts
import { one } from './one.js';
await locks.acquire(one);
\`\`\`
## Below
\`\`\`ts
one;
\`\`\`
\`\`\`ts partial
one(…);
\`\`\`
\`\`\`sql
SELECT
\`\`\`
\`\`\`js
one();
\`\`\`
\`\`\`ts partail
\`\`\``;
  expect(problemsOf(parsePage('docs/x.md', page).blocks).toSorted()).toEqual([
    "docs/x.md:11 (Title): Argument of type 'number' is not assignable to parameter of type 'LockKeys'.",
    "docs/x.md:15 (Below): Cannot find name 'one'.",
    'docs/x.md:23 (Below): write `js` as `ts`, or as text',
    'docs/x.md:26 (Below): nobody knows the mark "partail"',
    "docs/x.md:7 (Title): Property 'two' does not exist on type '1'.",
  ]);
});

function importsOfFiles({ blocks }: Page): string[] {
  return blocks.flatMap(({ page, line, code }) =>
    [...code.matchAll(/from '(\.[^']+)'/g)].map(([, from]) => `${page}:${line} ${from}`),
  );
}

function leadsSomewhere(path: string, target: string): boolean {
  if (/^https?:/.test(target)) return true;
  const [file, anchor] = target.split('#') as [string, string | undefined];
  const page = file === '' ? path : normalize(join(dirname(path), file));
  if (!existsSync(join(ROOT, page))) return false;
  return anchor === undefined || readPage(page).headings.some(({ text }) => slug(text) === anchor);
}

/** The anchor that GitHub gives a heading. */
function slug(heading: string): string {
  return heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}_ -]/gu, '')
    .replaceAll(' ', '-');
}
