// `npm run docs`: the pages and the API reference as a site, in `site/dist/html`. A dead link, or one to a heading that there
// is not, fails it. `--without-api` leaves out the reference, which takes most of the time.
import { rm } from 'node:fs/promises';
import { build } from 'vitepress';
import { writeApi } from './api.mjs';
import { deadLinksOf } from './check-links.mjs';
import { API, DIST, HTML, PAGES, SITE } from './folders.mjs';
import { stagePages } from './pages.mjs';

await rm(DIST, { recursive: true, force: true });
await stagePages(PAGES);
if (!process.argv.includes('--without-api')) await writeApi(API);
await build(SITE);

const dead = await deadLinksOf(HTML);
for (const link of dead) console.error(`dead link: ${link}`);
console.log(dead.length > 0 ? `${dead.length} dead links` : `The site is in ${HTML}`);
process.exit(dead.length > 0 ? 1 : 0);
