// Where the site is made, and the project's home on the web, which is `repository` of package.json.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const ROOT = fileURLToPath(new URL('..', import.meta.url));
export const SITE = join(ROOT, 'site');
export const DIST = join(SITE, 'dist');
/** The pages as VitePress takes them. */
export const PAGES = join(DIST, 'pages');
export const API = join(PAGES, 'api');
export const HTML = join(DIST, 'html');
/** The path below which the site is served: `/` or `/nest-holdfast/`. */
export const BASE = process.env.DOCS_BASE ?? '/';

const { repository } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
export const HOME = repository.url.replace(/^git\+|\.git$/g, '');
