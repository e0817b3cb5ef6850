// `npm run entries`: writes the entries of `entries.json` into package.json, where Node and TypeScript look for them.
import { readFile, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';

const PACKAGE = fileURLToPath(new URL('../package.json', import.meta.url));
const ENTRIES = new URL('entries.json', import.meta.url);

const entries = JSON.parse(await readFile(ENTRIES, 'utf8'));
const described = JSON.parse(await readFile(PACKAGE, 'utf8'));
const { exports } = described;

described.exports = {
  '.': exports['.'],
  ...mapped(([name, { file }]) => [`./${name}`, conditions(file)]),
  './package.json': exports['./package.json'],
};
described.typesVersions = {
  '*': mapped(([name, { file }]) => [name, [`./dist/cjs/${file}.d.ts`]]),
};
await writeFile(PACKAGE, `${JSON.stringify(described, null, 2)}\n`);

function mapped(toPair) {
  return Object.fromEntries(Object.entries(entries).map(toPair));
}

/** `import` gets the ES module; `require` gets CommonJS, but for a Node that can require ES modules. */
function conditions(file) {
  const of = (format) => ({
    types: `./dist/${format}/${file}.d.ts`,
    default: `./dist/${format}/${file}.js`,
  });
  return { 'module-sync': of('esm'), import: of('esm'), require: of('cjs') };
}
