// Lets a plain `node` run the TypeScript of this repository: `node --require <this file> worker.ts`.
// The package's own names resolve to lib/, as they do in Jest, so no build is needed. What was compiled once is kept.
const { createHash } = require('node:crypto');
const { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } = require('node:fs');
const Module = require('node:module');
const path = require('node:path');
const options = require('./swc-options.cjs');

const ROOT = path.join(__dirname, '..', '..', '..');
const CACHE = path.join(ROOT, 'node_modules', '.cache', 'holdfast-tests');
const { version } = require('@swc/core/package.json');
const entries = Object.entries(require('../../../lib/entries.json'));
const OWN_NAMES = {
  'nest-holdfast': 'lib/index.ts',
  ...Object.fromEntries(
    entries.map(([name, { file }]) => [`nest-holdfast/${name}`, `lib/${file}.ts`]),
  ),
};

const resolveFilename = Module._resolveFilename;
Module._resolveFilename = function (request, parent, ...rest) {
  return resolveFilename.call(this, sourceOf(request, parent) ?? request, parent, ...rest);
};

require.extensions['.ts'] = (module, filename) => {
  module._compile(compiled(readFileSync(filename, 'utf8'), filename), filename);
};

/** The JavaScript of a file, from the cache if it was compiled before. */
function compiled(source, filename) {
  const hash = createHash('sha1').update(JSON.stringify([version, options, filename, source]));
  const cached = path.join(CACHE, `${hash.digest('hex')}.js`);
  if (existsSync(cached)) return readFileSync(cached, 'utf8');
  const { code } = require('@swc/core').transformSync(source, { ...options, filename });
  mkdirSync(CACHE, { recursive: true });
  const unfinished = `${cached}.${process.pid}`;
  writeFileSync(unfinished, code);
  renameSync(unfinished, cached); // another process may be reading it
  return code;
}

/** The TypeScript file that a specifier stands for, if it stands for one. */
function sourceOf(request, parent) {
  if (Object.hasOwn(OWN_NAMES, request)) return path.join(ROOT, OWN_NAMES[request]);
  if (!parent?.filename?.endsWith('.ts') || !/^\.{1,2}\/.*\.js$/.test(request)) return undefined;
  const source = path.resolve(path.dirname(parent.filename), request).replace(/\.js$/, '.ts');
  return existsSync(source) ? source : undefined;
}
