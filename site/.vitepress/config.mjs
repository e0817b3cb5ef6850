import { existsSync } from 'node:fs';
import { API, BASE, HOME, HTML, PAGES } from '../folders.mjs';
import { extend, slugify } from '../markdown.mjs';
import { sidebar } from '../sidebar.mjs';

const NAVIGATION = [
  { text: 'Nest', link: '/nest' },
  { text: 'Express', link: '/express' },
  { text: 'Stores', link: '/stores' },
];

/** VitePress calls this file by its name. Nothing of it needs a network. */
export default {
  title: 'Holdfast',
  description: 'Distributed locks for NestJS and Express',
  base: BASE,
  srcDir: PAGES,
  outDir: HTML,
  cacheDir: `${PAGES}/../cache`,
  ignoreDeadLinks: true, // check-links.mjs tells all of them at once, with anchors
  markdown: { anchor: { slugify }, config: extend },
  vue: { template: { transformAssetUrls: false } }, // pictures are served as they are
  themeConfig: {
    nav: existsSync(API) ? [...NAVIGATION, { text: 'API', link: '/api/' }] : NAVIGATION,
    sidebar: sidebar(),
    outline: [2, 3],
    search: { provider: 'local' },
    socialLinks: [{ icon: 'github', link: HOME }],
  },
  vite: { build: { chunkSizeWarningLimit: 2_000 }, logLevel: 'warn' },
};
