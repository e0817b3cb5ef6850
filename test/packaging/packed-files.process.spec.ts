import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';

const ROOT = join(__dirname, '..', '..');
const MOST_FILES = 80;
/**
 * ES modules are 0.5 MB and their maps 0.2 MB. CommonJS, which Jest cannot do without, is 0.5 MB, the types are 0.2 MB, the command
 * line and the live page 0.1 MB each.
 */
const MOST_BYTES = 1_780_000;
const MINUTES = 60_000;

const run = promisify(execFile);
const read = (path: string) => readFile(path, 'utf8');

/** What a user gets, unpacked. */
describe('the files of the packed package', () => {
  let directory: string;
  let unpacked: string;
  let manifest: Readonly<Record<'homepage' | 'author', string>> & {
    readonly repository: { readonly url: string };
    readonly bugs: { readonly url: string };
  };

  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'holdfast-files-'));
    if (!existsSync(join(ROOT, 'dist/esm/package.json')))
      await run('npm', ['run', 'build'], { cwd: ROOT });
    await run('npm', ['pack', '--pack-destination', directory], { cwd: ROOT });
    const [tarball] = await readdir(directory);
    await run('tar', ['-xzf', tarball!], { cwd: directory });
    unpacked = join(directory, 'package');
    manifest = JSON.parse(await read(join(unpacked, 'package.json')));
  }, 5 * MINUTES);

  afterAll(() => rm(directory, { recursive: true, force: true }));

  it(`are at most ${MOST_FILES}, and at most ${MOST_BYTES} bytes`, async () => {
    const { stdout } = await run('tar', ['-tvzf', (await readdir(directory)).find(isTarball)!], {
      cwd: directory,
    });
    const sizes = stdout
      .trim()
      .split('\n')
      .map((line) => Number(/(\d+) \d{4}-/.exec(line)![1]));
    expect(sizes.length).toBeLessThanOrEqual(MOST_FILES);
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThanOrEqual(MOST_BYTES);
  });

  it('have one home, which package.json says', () => {
    const home = manifest.repository.url.replace(/^git\+|\.git$/g, '');
    expect(home).toMatch(/^https:\/\//);
    expect(manifest.homepage).toBe(`${home}#readme`);
    expect(manifest.bugs.url).toBe(`${home}/issues`);
    expect(manifest.author).not.toBe('');
  });

  it('have a README whose links are whole addresses, and lead to files of the project', async () => {
    const home = `${manifest.homepage.replace('#readme', '')}/`;
    const packed = await read(join(unpacked, 'README.md'));
    const targets = [...packed.matchAll(/\]\(([^)\s]+)\)/g)].map(([, target]) => target!);
    expect(targets.filter((target) => !/^(https:|#)/.test(target))).toEqual([]);
    const ours = targets.filter((target) => target.startsWith(home));
    expect(ours.length).toBeGreaterThan(10);
    const paths = ours.map((target) => target.slice(home.length).replace(/^\w+\/main\/|#.*$/g, ''));
    expect(paths.filter((path) => !existsSync(join(ROOT, path)))).toEqual([]);
  });

  it('leave the README of the project with its relative links', async () => {
    const readme = await read(join(ROOT, 'README.md'));
    expect(readme).toContain('](docs/');
    expect(readme).not.toContain(manifest.homepage.replace('#readme', '/blob'));
  });

  it('have types once: those of ES modules lead to those of CommonJS', async () => {
    const types = join(unpacked, 'dist/esm');
    const files = (await readdir(types, { recursive: true })).filter((file) =>
      file.endsWith('.d.ts'),
    );
    expect(files.length).toBeGreaterThan(10);
    for (const file of files) {
      const [, target] = /^export \* from '(.*)\.js';\n$/.exec(await read(join(types, file)))!;
      expect(existsSync(join(types, dirname(file), `${target}.d.ts`))).toBe(true);
    }
  });

  it('have maps to the lines of the TypeScript, without its text', async () => {
    const code = await read(join(unpacked, 'dist/esm/shared.js'));
    const [, data] = /sourceMappingURL=data:application\/json;base64,(.*)/.exec(code)!;
    const map = JSON.parse(Buffer.from(data!, 'base64').toString());
    expect(map.sources).toContain('../../lib/core/lock.service.ts');
    expect(map).not.toHaveProperty('sourcesContent');
    expect(await traceOf(join(unpacked, 'dist/esm/core.js'))).toMatch(
      /optionError \(.*lib\/core\/options\/option-error\.ts:\d+/,
    );
  });
});

function isTarball(name: string): boolean {
  return name.endsWith('.tgz');
}

/** Of an error of an option, as Node prints it. */
async function traceOf(core: string): Promise<string> {
  const program = `
    import { LockService, MemoryLockStore } from ${JSON.stringify(core)};
    await new LockService(new MemoryLockStore()).acquire('a', { ttl: 'x' }).catch((error) => console.log(error.stack));`;
  const words = ['--enable-source-maps', '--input-type=module', '-e', program];
  return (await run(process.execPath, words)).stdout;
}
