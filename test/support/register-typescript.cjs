// Lets a plain `node` run the TypeScript of this repository: `node --require <this file> worker.ts`.
// The package's own names resolve to lib/, as they do in Jest, so no build is needed.
const { existsSync, readFileSync } = require('node:fs');
const Module = require('node:module');
const path = require('node:path');
const { transformSync } = require('@swc/core');
const options = require('./swc-options.cjs');

const ROOT = path.join(__dirname, '..', '..');
const OWN_NAMES = {
  'nest-holdfast': 'lib/index.ts',
  'nest-holdfast/core': 'lib/core.ts',
  'nest-holdfast/etcd': 'lib/stores/etcd/index.ts',
  'nest-holdfast/express': 'lib/express/index.ts',
  'nest-holdfast/fencing': 'lib/fencing/index.ts',
  'nest-holdfast/redlock': 'lib/stores/redlock/index.ts',
  'nest-holdfast/sql': 'lib/stores/sql/index.ts',
  'nest-holdfast/testing': 'lib/testing/index.ts',
  'nest-holdfast/zookeeper': 'lib/stores/zookeeper/index.ts',
};

const resolveFilename = Module._resolveFilename;
Module._resolveFilename = function (request, parent, ...rest) {
  return resolveFilename.call(this, sourceOf(request, parent) ?? request, parent, ...rest);
};

require.extensions['.ts'] = (module, filename) => {
  const { code } = transformSync(readFileSync(filename, 'utf8'), { ...options, filename });
  module._compile(code, filename);
};

/** The TypeScript file that a specifier stands for, if it stands for one. */
function sourceOf(request, parent) {
  if (Object.hasOwn(OWN_NAMES, request)) return path.join(ROOT, OWN_NAMES[request]);
  if (!parent?.filename?.endsWith('.ts') || !/^\.{1,2}\/.*\.js$/.test(request)) return undefined;
  const source = path.resolve(path.dirname(parent.filename), request).replace(/\.js$/, '.ts');
  return existsSync(source) ? source : undefined;
}
