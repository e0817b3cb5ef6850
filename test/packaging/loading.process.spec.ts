import { execFile } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';

const ROOT = join(__dirname, '..', '..');
const PROBES = join(__dirname, 'probes');
const MINUTES = 60_000;

const entries = JSON.parse(readFileSync(join(ROOT, 'lib/entries.json'), 'utf8')) as Readonly<
  Record<string, { readonly file: string }>
>;
const NAMES = Object.keys(entries);
/** Nest and its own packages, and what reads the parameters of a method. */
const OF_NEST =
  /^(@nestjs\/(common|core)|acorn|reflect-metadata|rxjs|tslib|fast-safe-stringify|iterare|path-to-regexp|uid)$/;
/** What an entry is made for, and so loads. */
const FOREIGN: Readonly<Record<string, RegExp>> = {
  otel: /^@opentelemetry\/api$/,
  prometheus: /^(prom-client|@opentelemetry\/api|bintrees|tdigest)$/,
  terminus: new RegExp(`${OF_NEST.source}|^@nestjs/terminus$`),
};
const NOTHING = /^$/;

const run = promisify(execFile);
const probe = async (name: string, ...words: string[]): Promise<string> =>
  (await run(process.execPath, [join(PROBES, name), ...words], { cwd: ROOT })).stdout;

beforeAll(async () => {
  if (!existsSync(join(ROOT, 'dist/esm/package.json')))
    await run('npm', ['run', 'build'], { cwd: ROOT });
}, 5 * MINUTES);

describe('an application that imports', () => {
  it('nest-holdfast loads no other entry, and no client of a store', async () => {
    const { files, packages } = await loadedBy('nest-holdfast');
    expect(files).toEqual(['dist/esm/index.js', 'dist/esm/shared.js']);
    expect(packages.filter((name) => !OF_NEST.test(name))).toEqual([]);
    expect(packages).toContain('@nestjs/common');
  });

  it.each(NAMES)('nest-holdfast/%s loads it, and what entries share', async (name) => {
    const { files, packages } = await loadedBy(`nest-holdfast/${name}`);
    expect(files).toContain(`dist/esm/${entries[name]!.file}.js`);
    const others = NAMES.filter((other) => other !== name).map((other) => entries[other]!.file);
    expect(files.filter((file) => others.some((other) => file.endsWith(`/${other}.js`)))).toEqual(
      [],
    );
    expect(files).not.toContain('dist/esm/index.js');
    const allowed = FOREIGN[name] ?? NOTHING;
    expect(packages.filter((each) => !allowed.test(each))).toEqual([]);
  });

  async function loadedBy(name: string) {
    const loaded = JSON.parse(await probe('loaded.mjs', name)) as readonly string[];
    const inPackages = loaded.flatMap(
      (file) => /node_modules\/((@[^/]+\/)?[^/]+)/.exec(file)?.[1] ?? [],
    );
    const files = loaded.filter((file) => file.startsWith('dist/') && file !== 'dist/page.js');
    return { files, packages: [...new Set(inPackages)] };
  }
});

describe('a bundle of an application that uses', () => {
  it('the service and the memory store has neither Nest, nor another store, nor a leader', async () => {
    const code = await bundle('nest-holdfast', 'LockService', 'MemoryLockStore');
    expect(classesOf(code)).toEqual(expect.arrayContaining(['LockService', 'MemoryLockStore']));
    for (const absent of ['RedisLockStore', 'LeaderElection', 'DistributedLockModule'])
      expect(classesOf(code)).not.toContain(absent);
    expect(code.match(/@nestjs\/\w+/g)).toBeNull();
  });

  it('one error is a small part of the whole', async () => {
    const [one, whole] = await Promise.all([
      bundle('nest-holdfast', 'LockTimeoutError'),
      bundle('nest-holdfast'),
    ]);
    expect(classesOf(one)).toContain('LockTimeoutError');
    expect(one.length).toBeLessThan(whole.length / 8);
  });

  it('a store has no other store', async () => {
    const classes = classesOf(await bundle('nest-holdfast/etcd', 'EtcdLockStore'));
    expect(classes.filter((name) => name.endsWith('LockStore'))).toEqual(['EtcdLockStore']);
  });

  function bundle(...words: string[]): Promise<string> {
    return probe('bundle.mjs', ...words);
  }

  function classesOf(code: string): string[] {
    return [...code.matchAll(/\bclass (\w+)|\b(\w+) = class\b/g)].map(
      (found) => (found[1] ?? found[2])!,
    );
  }
});
