import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { cp, mkdir, mkdtemp, readFile, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { readPage } from '../readme/support/markdown.js';
import { inLanes } from '../support/lanes.js';

const ROOT = join(__dirname, '..', '..');
const CONSUMERS = join(__dirname, 'consumers');
const SHARED = join(__dirname, 'shared');
const MINUTES = 60_000;
/** Installations wait for the disk and the network for half of their time. */
const AT_ONCE = 2;

const APPLICATIONS = [
  ['nest12-esm', 'Nest 12 as ES modules'],
  ['nest11-cjs-jest', 'Nest 11 as CommonJS, in plain ts-jest, with the tests of docs/testing.md'],
  ['nest10', 'Nest 10 as CommonJS, without ioredis'],
  ['express5-esm', 'Express 5 as ES modules, without Nest'],
  ['express5-cjs', 'Express 5 as CommonJS, without Nest'],
  ['fastify5-esm', 'Nest 12 on Fastify 5 as ES modules, which compresses'],
  ['types', 'the types, in every way to resolve them'],
  ['builds', 'what tsc, SWC, esbuild, terser, webpack and nest build make of a class'],
] as const;

interface Entry {
  readonly types: string;
  readonly default: string;
}

/** Applications that install the packed package as users do, each with its own versions of everything else. */
describe('the packed package', () => {
  let directory: string;
  let tarball: string;
  let checks: Map<string, Promise<void>>;

  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'holdfast-packaging-'));
    if (!existsSync(join(ROOT, 'dist/esm/package.json'))) await npm(ROOT, 'run', 'build');
    await npm(ROOT, 'pack', '--pack-destination', directory);
    const [packed] = await readdir(directory);
    tarball = join(directory, packed!);
    checks = inLanes(
      APPLICATIONS.map(([name]) => name),
      AT_ONCE,
      check,
    );
  }, 2 * MINUTES);

  afterAll(async () => {
    await Promise.allSettled(checks?.values() ?? []);
    await rm(directory, { recursive: true, force: true });
  }, 5 * MINUTES);

  it('depends on nothing of which an application has its own copy', async () => {
    const manifest = JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8'));
    expect(Object.keys(manifest.dependencies)).toEqual(['acorn']);
    for (const peer of ['@nestjs/common', '@nestjs/core', 'ioredis', 'reflect-metadata', 'rxjs']) {
      expect(manifest.peerDependencies).toHaveProperty([peer]);
    }
  });

  it('forces no peer on those who use a part of it: Express without Nest, Nest without Redis', async () => {
    const manifest = JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8'));
    const peers = Object.keys(manifest.peerDependencies);
    expect(manifest.peerDependenciesMeta).toEqual(
      Object.fromEntries(peers.map((peer) => [peer, { optional: true }])),
    );
  });

  it('is one file for each entry, beside what entries share', async () => {
    const { exports } = JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8'));
    for (const [folder, condition] of [
      ['dist/cjs', 'require'],
      ['dist/esm', 'import'],
    ] as const) {
      const entries = Object.values<Record<string, Entry>>(exports).flatMap(
        (entry) => entry[condition] ?? [],
      );
      for (const { types, default: code } of entries) {
        expect(existsSync(join(ROOT, types))).toBe(true);
        expect(existsSync(join(ROOT, code))).toBe(true);
      }
      const files = await readdir(join(ROOT, folder), { recursive: true });
      const modules = files.filter((file) => file.endsWith('.js') && !file.startsWith('cli'));
      expect(modules.length).toBeLessThan(entries.length + 8);
    }
  });

  it.each(APPLICATIONS)(
    '%s: works in %s',
    async (consumer) => {
      await checks.get(consumer);
    },
    5 * MINUTES,
  );

  async function check(consumer: string): Promise<void> {
    const folder = join(directory, consumer);
    await cp(join(CONSUMERS, consumer), folder, { recursive: true });
    if (consumer.startsWith('nest')) await cp(SHARED, folder, { recursive: true });
    if (consumer.endsWith('-jest')) await typeTestingPage(join(folder, 'docs'));
    await npm(folder, 'install', '--prefer-offline', '--no-audit', '--no-fund', tarball);
    await npm(folder, 'run', 'check');
  }
});

/** The files of docs/testing.md for Jest, as a reader copies them. */
async function typeTestingPage(folder: string): Promise<void> {
  await mkdir(folder);
  for (const { marks, code } of readPage('docs/testing.md').blocks) {
    const name = marks.find((mark) => mark.startsWith('file='))?.slice('file='.length);
    if (name && !code.includes("'vitest'")) await writeFile(join(folder, name), code);
  }
}

/** Rejects with what npm printed. */
async function npm(cwd: string, ...args: string[]): Promise<void> {
  try {
    await promisify(execFile)('npm', args, { cwd, env: consumerEnvironment() });
  } catch (error) {
    const { stdout, stderr } = error as { stdout: string; stderr: string };
    throw new Error(`npm ${args.join(' ')}\n${stdout}\n${stderr}`, { cause: error });
  }
}

/** Without the variables of the surrounding `npm test` and Jest, which are not meant for the consumers. */
function consumerEnvironment(): NodeJS.ProcessEnv {
  const foreign =
    /^(npm_(?!config_(registry|cache|userconfig|cafile|https?_proxy))|JEST_|NODE_OPTIONS$|NODE_ENV$|INIT_CWD$)/i;
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !foreign.test(name)));
}
