// Bundles the live page of `dashboard/page`: one script and one style sheet, minified, with Preact and uPlot in them.
// As a program it writes both to its output, as JSON: `{ script, style }`.
import { readFile, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { transform } from 'lightningcss';
import { rolldown } from 'rolldown';

const PAGE = fileURLToPath(new URL('dashboard/page/', import.meta.url));
const STYLES = join(PAGE, 'styles');
const UPLOT_STYLE = new URL('../node_modules/uplot/dist/uPlot.min.css', import.meta.url);
/** The licences of both are kept by their notice. */
const NOTICE =
  '/*! Contains Preact (MIT, Jason Miller and contributors) and uPlot (MIT, Leon Sorokin). */';

export async function bundlePage() {
  const [script, style] = await Promise.all([bundleScript(), bundleStyle()]);
  return { script: `${NOTICE}\n${script}`, style: `${NOTICE}\n${style}` };
}

async function bundleScript() {
  const build = await rolldown({
    input: join(PAGE, 'main.tsx'),
    platform: 'browser',
    tsconfig: join(PAGE, 'tsconfig.json'),
    resolve: { extensionAlias: { '.js': ['.ts', '.tsx', '.js'] } },
    transform: { target: 'es2022' },
  });
  const { output } = await build.generate({ format: 'esm', minify: true });
  await build.close();
  if (output.length !== 1) throw new Error(`The page is ${output.length} files, not one script`);
  return output[0].code;
}

/** In the order of the files' names. */
async function bundleStyle() {
  const names = (await readdir(STYLES)).filter((name) => name.endsWith('.css')).toSorted();
  const files = [UPLOT_STYLE, ...names.map((name) => join(STYLES, name))];
  const texts = await Promise.all(files.map((file) => readFile(file)));
  const { code } = transform({
    filename: 'page.css',
    code: Buffer.concat(texts),
    minify: true,
  });
  return code.toString();
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  process.stdout.write(JSON.stringify(await bundlePage()));
}
