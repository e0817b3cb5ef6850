// Builds the package: TypeScript compiles `lib` to modules, and rolldown joins them to one file for each entry, with what
// several entries share in files of its own; as ES modules with source maps, and as CommonJS without, which Jest and older
// bundlers load: Node takes ES modules for `require`, too. The types are written once: those of ES modules lead to those of
// CommonJS. The live page is bundled apart, for both. The command line is among the ES modules, and Commander a file beside it.
import { execFileSync } from 'node:child_process';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { rolldown } from 'rolldown';
import { dts } from 'rolldown-plugin-dts';
import { bundlePage } from './bundle-page.mjs';
import { withPureMarks } from './pure-marks.mjs';
import { shortenMaps } from './shorten-maps.mjs';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const DIST = join(ROOT, 'dist');
const MODULES = join(DIST, 'modules');
const TSC = join(ROOT, 'node_modules/typescript7/bin/tsc');

const entries = JSON.parse(await readFile(new URL('entries.json', import.meta.url), 'utf8'));
const ENTRIES = ['index', ...Object.values(entries).map(({ file }) => file)];
const PROGRAMS = ['cli/holdfast', 'cli/supervisor'];

const SHARED_ROOMS =
  /modules.(core|http|leader|logs|metrics|migrate.plan|ticks|without-nest|redis-client|fencing.http|stores.(kit|memory|redis|redlock.node.redlock-options))./;
/** Nearly every application loads this file: the fewer files, the faster the start. */
const SHARED = { name: 'shared', test: isWithin(SHARED_ROOMS), minShareCount: 2 };
const REDLOCK = { name: 'redlock', test: isWithin(/modules.stores.redlock./), minShareCount: 2 };

/** What stack traces and messages name keeps its name. */
const KEPT = { keepNames: { function: true, class: true } };
const COMPACT = { compress: KEPT, mangle: KEPT, codegen: { removeWhitespace: true } };
const MAPS = { sourcemap: true, sourcemapExcludeSources: true };
const SMALL = { minify: COMPACT, comments: { legal: false, annotation: true, jsdoc: false } };

/** A file of an entry may be loaded by others, by what it exports: without it they would be two files. */
const OPTIONS = {
  external: isForeign,
  platform: 'node',
  preserveEntrySignatures: 'allow-extension',
  checks: { bundlerTimings: false },
};

/** The live page, as texts: one module for both formats. */
const PAGE = join(DIST, 'page.js');

/** Gives rolldown the maps from modules to TypeScript, so that its own lead there, too. */
const sourceMaps = {
  name: 'source-maps',
  async load(id) {
    const [code, map] = await Promise.all([readFile(id, 'utf8'), readFile(`${id}.map`, 'utf8')]);
    return { code: withPureMarks(code), map };
  },
};

/** What is bundled apart: the text of the page, which both formats load, and Commander, which an application does not have. */
const COMMANDER = join(DIST, 'esm/cli/commander.js');
const bundledApart = {
  name: 'bundled-apart',
  resolveId(id) {
    if (id.endsWith('/built-page.js')) return { id: PAGE, external: true };
    return id === 'commander' ? { id: COMMANDER, external: 'relative' } : undefined;
  },
};

process.chdir(ROOT);
await rm(DIST, { recursive: true, force: true });
execFileSync(process.execPath, [TSC, '-p', 'lib/tsconfig.json'], { stdio: 'inherit' });
await writeFile(join(MODULES, 'package.json'), JSON.stringify({ type: 'module' }));
const page = await bundlePage();
await writeFile(PAGE, `exports.builtPage = ${JSON.stringify(page)};\n`);
await Promise.all([
  writeCode('esm', 'module', [...ENTRIES, ...PROGRAMS], MAPS),
  writeCode('cjs', 'commonjs', ENTRIES, {}),
  writeTypes(),
  writeCommander(),
]);
await shortenMaps(join(DIST, 'esm'));
await rm(MODULES, { recursive: true });

async function writeCode(format, type, names, output) {
  const dir = join(DIST, format);
  await mkdir(dir, { recursive: true });
  await writeFile(join(dir, 'package.json'), JSON.stringify({ type, sideEffects: false }));
  await write(names, '.js', [sourceMaps, bundledApart], { dir, format, ...SMALL, ...output });
}

async function writeCommander() {
  const build = await rolldown({ input: 'commander', platform: 'node' });
  const postBanner = '/*! Commander (MIT, TJ Holowaychuk and contributors). */';
  await build.write({ file: COMMANDER, format: 'esm', ...SMALL, postBanner });
  await build.close();
}

async function writeTypes() {
  const plugins = [dts({ dtsInput: true, emitDtsOnly: true })];
  await write(ENTRIES, '.d.ts', plugins, { dir: join(DIST, 'cjs'), format: 'esm' });
  for (const name of ENTRIES) {
    const file = join(DIST, 'esm', `${name}.d.ts`);
    const target = relative(dirname(file), join(DIST, 'cjs', `${name}.js`));
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, `export * from '${target}';\n`);
  }
}

async function write(names, extension, plugins, output) {
  const files = names.map((name) => [name, join(MODULES, name + extension)]);
  const input = Object.fromEntries(files);
  const build = await rolldown({ ...OPTIONS, input, plugins });
  const chunkFileNames = `[name]${extension}`;
  await build.write({ ...output, chunkFileNames, codeSplitting: { groups: [SHARED, REDLOCK] } });
  await build.close();
}

/** No entry: it would give its own file what only files of the build may load. */
function isWithin(rooms) {
  return (id) =>
    rooms.test(id) && !ENTRIES.some((name) => id.startsWith(join(MODULES, `${name}.`)));
}

/** Of Commander, the plugin says what it is. */
function isForeign(id) {
  return id !== 'commander' && !id.startsWith('.') && !id.startsWith('/') && !id.includes(DIST);
}
