import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { lastingFiles } from '../support/library-sources.js';
import { ROOT, readPage } from './support/markdown.js';

const WORKFLOWS = '.github/workflows';

const read = (path: string) => readFileSync(join(ROOT, path), 'utf8');

describe('CONTRIBUTING.md', () => {
  const text = read('CONTRIBUTING.md');
  const { scripts } = JSON.parse(read('package.json')) as { scripts: Record<string, string> };

  it('sets up in two commands', () => {
    expect(text).toContain('## Set-up\n\n```sh\nnpm ci\nnpm test\n```\n');
  });

  it('names scripts that there are', () => {
    const named = [...text.matchAll(/npm run ([\w:]+)/g)].map(([, name]) => name!);
    expect(named.length).toBeGreaterThan(5);
    expect(Object.keys(scripts)).toEqual(expect.arrayContaining(named));
  });

  it('names files and folders that there are', () => {
    const { prose } = readPage('CONTRIBUTING.md');
    const paths = [...prose.matchAll(/`((?:\.ci|bench|docs|lib|test)\/[\w./-]*)`/g)];
    const commands = [...text.matchAll(/npx jest (\S+)/g)];
    const named = [...paths, ...commands].map(([, path]) => path!);
    expect(named.length).toBeGreaterThan(10);
    expect(named.filter((path) => !existsSync(join(ROOT, path)))).toEqual([]);
  });

  it('shows a run of one test that there is', () => {
    const [, file, name] = text.match(/npx jest (\S+) -t '([^']+)'/)!;
    expect(read(file!)).toContain(name);
  });

  it('knows every kind of spec', () => {
    const specs = lastingFiles(join(ROOT, 'test')).filter((file) => file.endsWith('.spec.ts'));
    const kinds = specs.flatMap(
      (file) => file.match(/\.(?:fault|process|model)\.spec\.ts$/)?.[0] ?? [],
    );
    for (const kind of new Set(kinds)) expect(text).toContain(`| \`${kind}\``);
  });

  it('knows every spec of the transports of Nest', () => {
    const room = 'test/nest/transports';
    const specs = lastingFiles(join(ROOT, room)).filter((file) => file.endsWith('.spec.ts'));
    for (const spec of specs) expect(text).toContain(`(${room}/${spec})`);
  });
});

describe.each(readdirSync(join(ROOT, WORKFLOWS)))('the workflow %s', (name) => {
  const text = read(join(WORKFLOWS, name));

  it('runs the same command as contributors', () => {
    expect(text).toMatch(/^ +- run: \.ci\/run$/m);
  });

  it('runs actions at commits, and not at tags that move', () => {
    const used = [...text.matchAll(/uses: (\S+)/g)].map(([, action]) => action!);
    expect(used).not.toEqual([]);
    for (const action of used) expect(action).toMatch(/@[\da-f]{40}$/);
  });

  it('may read the repository, and nothing else', () => {
    expect(text).toMatch(/^permissions: \{\}$/m);
    expect(text).toMatch(/^ {4}permissions:\n {6}contents: read\n {4}\S/m);
    expect(text).toContain('persist-credentials: false');
    expect(text).not.toMatch(/: write\b|secrets\.|pull_request_target/);
  });
});
