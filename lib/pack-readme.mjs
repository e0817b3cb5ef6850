// The README of the packed package leads to pages that the package does not have: their links become whole addresses while
// npm packs (`prepack`), and are relative again afterwards (`postpack`). The address is that of `repository` in package.json.
import { readFile, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';

const ROOT = new URL('..', import.meta.url);
const README = fileURLToPath(new URL('README.md', ROOT));
const { repository } = JSON.parse(await readFile(new URL('package.json', ROOT), 'utf8'));
const HOME = repository.url.replace(/^git\+|\.git$/g, '');
const PAGES = `${HOME}/blob/main/`;
const PICTURES = `${HOME}/raw/main/`;

/** A relative target: of a link or a picture in Markdown, of an attribute in HTML. */
const TARGETS = /(!?\[[^\]]*\]\(|\b(?:href|src|srcset)=")(?!https?:|#|mailto:)([^)\s"]+)/g;

const text = await readFile(README, 'utf8');
await writeFile(README, process.argv.includes('--restore') ? relative(text) : whole(text));

function whole(markdown) {
  return markdown.replaceAll(TARGETS, (_, before, target) => {
    const isPicture = /^!|^src/.test(before);
    return `${before}${isPicture ? PICTURES : PAGES}${target}`;
  });
}

function relative(markdown) {
  return markdown.replaceAll(PAGES, '').replaceAll(PICTURES, '');
}
