// Bundles the programs of `lib/cli` from their sources, each to one ES module with all that it needs but the clients of servers, so
// that a test of them needs no build of the package. `node bundle-cli.mjs <folder>` writes them into a folder.
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { rolldown } from 'rolldown';
import { bundlePage } from '../../../lib/bundle-page.mjs';

const LIB = fileURLToPath(new URL('../../../lib/', import.meta.url));
const PAGE = /[\\/]dashboard[\\/]built-page\.ts$/;
const PROGRAMS = ['holdfast', 'supervisor'];
const BUNDLED = ['commander'];

/** `page`: what `bundlePage` made. */
async function bundleCli(folder, page) {
  for (const name of PROGRAMS) {
    const build = await rolldown({
      input: join(LIB, 'cli', `${name}.ts`),
      external: (id) => /^[^./]/.test(id) && !BUNDLED.includes(id),
      platform: 'node',
      transform: { target: 'node20' },
      tsconfig: join(LIB, 'tsconfig.json'),
      resolve: { extensionAlias: { '.js': ['.ts', '.js'] } },
      plugins: [builtPage(page)],
    });
    const file = join(folder, `${name}.mjs`);
    await build.write({ file, format: 'esm', minify: true, keepNames: true, codeSplitting: false });
    await build.close();
  }
}

/** The page as a text in the module that serves it. */
function builtPage(page) {
  return {
    name: 'built-page',
    async load(id) {
      if (!PAGE.test(id)) return undefined;
      return `export const builtPage = ${JSON.stringify(page)};`;
    },
  };
}

await bundleCli(process.argv[2], await bundlePage());
