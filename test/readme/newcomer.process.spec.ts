import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { promisify } from 'node:util';
import { ROOT, readPage } from './support/markdown.js';

/** Folders that a newcomer's clone does not have, and leftovers of the servers of tests. */
const LEFT_OUT = ['node_modules', 'dist', 'coverage', '.git', 'out'];
const MINUTE = 60_000;

describe('A newcomer who adds the store of docs/writing-a-store.md', () => {
  let clone: string;

  beforeAll(async () => {
    clone = await mkdtemp(join(tmpdir(), 'holdfast-newcomer-'));
    const filter = (path: string) => !LEFT_OUT.includes(basename(path)) && !/blocks-/.test(path);
    await cp(ROOT, clone, { recursive: true, filter });
    await symlink(join(ROOT, 'node_modules'), join(clone, 'node_modules'));
    await addFolder();
    await addLine();
  });

  afterAll(() => rm(clone, { recursive: true, force: true }));

  it(
    'has a store that passes its suite, and an architecture that holds',
    async () => {
      const { stderr } = await jest('test/stores/table.spec.ts', 'test/architecture.spec.ts');
      expect(stderr).toMatch(/Test Suites: 2 passed, 2 total/);
    },
    5 * MINUTE,
  );

  it(
    'has an entry of the package that compiles',
    async () => {
      await run('npm', 'run', '--silent', 'entries');
      const written = JSON.parse(await read('package.json')) as { exports: object };
      expect(written.exports).toHaveProperty(['./table']);
      await run('npm', 'run', '--silent', 'typecheck');
    },
    5 * MINUTE,
  );

  /** `lib/stores/table`, and its spec in `test/stores`. */
  async function addFolder(): Promise<void> {
    const [store, spec] = readPage('docs/writing-a-store.md').blocks.filter(({ marks }) =>
      marks.some((mark) => mark.startsWith('file=')),
    );
    const folder = join(clone, 'lib/stores/table');
    await mkdir(folder);
    await writeFile(
      join(folder, 'table-lock.store.ts'),
      store!.code.replace("'nest-holdfast/core'", "'../../core/index.js'"),
    );
    await writeFile(join(folder, 'index.ts'), `export * from './table-lock.store.js';\n`);
    await writeFile(
      join(clone, 'test/stores/table.spec.ts'),
      spec!.code.replaceAll("'./table-lock.store.js'", "'nest-holdfast/table'"),
    );
  }

  async function addLine(): Promise<void> {
    const entries = await read('lib/entries.json');
    const line = `  "table": { "file": "stores/table/index" },\n  "testing"`;
    await writeFile(join(clone, 'lib/entries.json'), entries.replace('  "testing"', line));
  }

  function read(path: string): Promise<string> {
    return readFile(join(clone, path), 'utf8');
  }

  function jest(...specs: string[]) {
    return run('node', 'node_modules/jest/bin/jest.js', '--runInBand', ...specs);
  }

  function run(program: string, ...words: string[]) {
    return promisify(execFile)(program, words, { cwd: clone, maxBuffer: 64 * 1_048_576 });
  }
});

describe('lib/entries.json', () => {
  it('is what package.json exports (else: npm run entries)', async () => {
    const copy = await mkdtemp(join(tmpdir(), 'holdfast-entries-'));
    await mkdir(join(copy, 'lib'));
    for (const file of ['package.json', 'lib/entries.json', 'lib/write-entries.mjs'])
      await cp(join(ROOT, file), join(copy, file));
    await promisify(execFile)('node', [join(copy, 'lib/write-entries.mjs')]);
    const [own, written] = await Promise.all([entriesOf(ROOT), entriesOf(copy)]);
    await rm(copy, { recursive: true });
    expect(own).toBe(written);
  });
});

/** The part of package.json that `npm run entries` writes. The order of its conditions counts. */
async function entriesOf(directory: string): Promise<string> {
  const { exports, typesVersions } = JSON.parse(
    await readFile(join(directory, 'package.json'), 'utf8'),
  ) as { readonly exports: object; readonly typesVersions: object };
  return JSON.stringify({ exports, typesVersions }, null, 2);
}
