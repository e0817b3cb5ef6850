// The Markdown pages of the project, and where they stand on the site.
import { cpSync, mkdirSync, readdirSync } from 'node:fs';
import { copyFile, cp } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { ROOT } from './folders.mjs';

const AT_THE_ROOT = {
  'README.md': 'index.md',
  'CHANGELOG.md': 'changelog.md',
  'CONTRIBUTING.md': 'contributing.md',
  'SECURITY.md': 'security.md',
};
/** Served as they are. */
const ASSETS = ['images', 'charts', 'grafana'];
const MERMAID = 'node_modules/@mermaid-js/tiny/dist/mermaid.tiny.js';

/** From the path in the project to that on the site. */
export function sitePaths() {
  const docs = readdirSync(join(ROOT, 'docs'), { recursive: true }).filter((file) =>
    file.endsWith('.md'),
  );
  const pages = docs.toSorted().map((file) => [`docs/${file}`, file]);
  return new Map([...Object.entries(AT_THE_ROOT), ...pages]);
}

/** Where the site has a file of the project that is no page: `images/page.png`. */
export function assetPath(file) {
  const [docs, folder, ...rest] = file.split('/');
  return docs === 'docs' && ASSETS.includes(folder) ? [folder, ...rest].join('/') : undefined;
}

/** Copies pages and assets to where VitePress takes them from. */
export async function stagePages(folder) {
  for (const [from, to] of sitePaths()) {
    mkdirSync(dirname(join(folder, to)), { recursive: true });
    cpSync(join(ROOT, from), join(folder, to));
  }
  const assets = join(folder, 'public');
  for (const name of ASSETS)
    await cp(join(ROOT, 'docs', name), join(assets, name), { recursive: true });
  await copyFile(join(ROOT, MERMAID), join(assets, 'mermaid.js'));
}
