import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

const ROOT = join(__dirname, '..', '..');
const MINUTES = 60_000;
const INSTALL_SCRIPTS = ['preinstall', 'install', 'postinstall']; // npm runs `prepare` for git only

interface Entry {
  readonly integrity?: string;
  readonly link?: boolean;
  readonly dev?: boolean;
  readonly optional?: boolean;
  readonly os?: readonly string[];
  readonly hasInstallScript?: boolean;
}

const run = promisify(execFile);
const npm = (cwd: string, ...args: readonly string[]) =>
  run('npm', [...args, '--no-audit', '--no-fund'], { cwd });

/** The packages that a lock file names, but for the project itself. */
async function entriesOf(directory: string): Promise<[string, Entry][]> {
  const text = await readFile(join(directory, 'package-lock.json'), 'utf8');
  const { packages } = JSON.parse(text) as { packages: Record<string, Entry> };
  return Object.entries(packages).filter(([path]) => path !== '');
}

describe('what comes along', () => {
  it(
    'to a consumer of the packed package runs no install script, and is what was published',
    async () => {
      const directory = await mkdtemp(join(tmpdir(), 'holdfast-consumer-'));
      try {
        if (!existsSync(join(ROOT, 'dist/esm/package.json'))) await npm(ROOT, 'run', 'build');
        await npm(ROOT, 'pack', '--ignore-scripts', '--pack-destination', directory);
        const [tarball] = await readdir(directory);
        await writeFile(join(directory, 'package.json'), '{ "private": true }');
        await npm(directory, 'install', '--ignore-scripts', `./${tarball}`);
        const entries = await entriesOf(directory);
        expect(entries.map(([path]) => path).toSorted()).toEqual([
          'node_modules/acorn',
          'node_modules/nest-holdfast',
        ]);
        for (const [path, entry] of entries) {
          expect(entry.integrity).toMatch(/^sha512-/);
          expect(entry.hasInstallScript).toBeUndefined();
          const manifest = await readFile(join(directory, path, 'package.json'), 'utf8');
          const scripts = Object.keys(JSON.parse(manifest).scripts ?? {});
          expect(scripts.filter((name) => INSTALL_SCRIPTS.includes(name))).toEqual([]);
        }
      } finally {
        await rm(directory, { recursive: true, force: true });
      }
    },
    5 * MINUTES,
  );

  it('to this project is held to its hash: all but native parts of its tools for other systems', async () => {
    const bare = (await entriesOf(ROOT)).filter(([, { integrity, link }]) => !integrity && !link);
    const isNative = ({ dev, optional, os }: Entry) => dev && optional && os !== undefined;
    expect(bare.filter(([, entry]) => !isNative(entry)).map(([path]) => path)).toEqual([]);
    const installed = bare.filter(([path]) => existsSync(join(ROOT, path)));
    expect(installed.map(([path]) => path)).toEqual([]);
  });
});
