// The API reference: a page for each exported name of each entry of the package, from its types and comments.
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Application, Converter } from 'typedoc';
import { ROOT } from './folders.mjs';

/** Writes Markdown for VitePress. */
export async function writeApi(folder) {
  const entries = JSON.parse(await readFile(join(ROOT, 'lib/entries.json'), 'utf8'));
  const named = Object.entries(entries).map(([name, { file }]) => [file, `nest-holdfast/${name}`]);
  const names = new Map([...named, ['index', 'nest-holdfast']]); // what both export, `core` has
  const app = await Application.bootstrapWithPlugins({
    plugin: ['typedoc-plugin-markdown'],
    entryPoints: [...names.keys()].map((file) => join(ROOT, 'lib', `${file}.ts`)),
    basePath: join(ROOT, 'lib'),
    tsconfig: join(ROOT, 'lib/tsconfig.json'),
    outputs: [{ name: 'markdown', path: folder }],
    name: 'API reference',
    readme: 'none',
    entryFileName: 'index',
    useHTMLAnchors: true,
    hideBreadcrumbs: true,
    excludePrivate: true,
    excludeInternal: true,
    excludeExternals: true,
    disableSources: true,
    skipErrorChecking: true,
    logLevel: 'Error',
  });
  app.converter.on(Converter.EVENT_RESOLVE_BEGIN, ({ project }) => {
    for (const module of project.children ?? []) {
      const name = names.get(module.name) ?? names.get(`${module.name}/index`);
      if (name) module.name = name;
    }
  });
  const project = await app.convert();
  if (!project) throw new Error('TypeDoc made no reference of the entries');
  await app.generateOutputs(project);
  if (app.logger.hasErrors()) throw new Error('TypeDoc could not write the reference');
}
