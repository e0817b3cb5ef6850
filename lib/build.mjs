// Builds the package: TypeScript compiles `lib` to modules, and rolldown joins them to one file for each entry, with what
// several entries share in files of its own; as ES modules and as CommonJS, with types and source maps. The live page is
// bundled apart, and is a text in the module that serves it.
import { execFileSync } from 'node:child_process';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { rolldown } from 'rolldown';
import { dts } from 'rolldown-plugin-dts';
import { bundlePage } from './bundle-page.mjs';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const DIST = join(ROOT, 'dist');
const MODULES = join(DIST, 'modules');
const TSC = join(ROOT, 'node_modules/typescript7/bin/tsc');

const entries = JSON.parse(await readFile(new URL('entries.json', import.meta.url), 'utf8'));
const ENTRIES = ['index', ...Object.values(entries).map(({ file }) => file)];

/** Nearly every application loads this file: the fewer files, the faster the start. */
const SHARED = {
  name: 'shared',
  test: /modules.(core|http|leader|logs|ticks|redis-client|stores.(kit|memory|redis))./,
  minShareCount: 2,
};

const FORMATS = { esm: 'module', cjs: 'commonjs' };

/** The module that has the live page as texts, and its map to no source. */
const PAGE = join(MODULES, 'dashboard/built-page.js');
const NO_SOURCE = { version: 3, sources: [], names: [], mappings: '' };

/** Gives rolldown the maps from modules to TypeScript, so that its own lead there, too. */
const sourceMaps = {
  name: 'source-maps',
  async load(id) {
    const [code, map] = await Promise.all([readFile(id, 'utf8'), readFile(`${id}.map`, 'utf8')]);
    return { code, map };
  },
};

process.chdir(ROOT);
await rm(DIST, { recursive: true, force: true });
execFileSync(process.execPath, [TSC, '-p', 'lib/tsconfig.json'], { stdio: 'inherit' });
await writeFile(PAGE, `export const builtPage = ${JSON.stringify(await bundlePage())};`);
await writeFile(`${PAGE}.map`, JSON.stringify(NO_SOURCE));
await Promise.all(Object.entries(FORMATS).map(([format, type]) => bundle(format, type)));
await rm(MODULES, { recursive: true });

async function bundle(format, type) {
  const dir = join(DIST, format);
  await mkdir(dir);
  await writeFile(join(dir, 'package.json'), JSON.stringify({ type, sideEffects: false }));
  await write('.js', [sourceMaps], { dir, format, sourcemap: true, sourcemapExcludeSources: true });
  await write('.d.ts', [dts({ dtsInput: true, emitDtsOnly: true })], { dir, format: 'esm' });
}

async function write(extension, plugins, output) {
  const files = ENTRIES.map((name) => [name, join(MODULES, name + extension)]);
  const input = Object.fromEntries(files);
  const build = await rolldown({ input, external: isForeign, platform: 'node', plugins });
  const chunkFileNames = `[name]${extension}`;
  await build.write({ ...output, chunkFileNames, codeSplitting: { groups: [SHARED] } });
  await build.close();
}

function isForeign(id) {
  return !id.startsWith('.') && !id.startsWith('/') && !id.includes(DIST);
}
