// Reads the built site as a browser does: every link and picture has to lead to a file, and to an element with its anchor.
import { existsSync } from 'node:fs';
import { readFile, readdir } from 'node:fs/promises';
import { join, posix } from 'node:path';
import { BASE, HOME, ROOT } from './folders.mjs';

const OF_THE_PROJECT = new RegExp(`^${HOME}/(?:blob|tree|raw)/main/([^#?]*)`);

/** Of a folder of HTML: `page.html: target`, sorted. */
export async function deadLinksOf(folder) {
  const files = (await readdir(folder, { recursive: true })).filter((file) =>
    file.endsWith('.html'),
  );
  const pages = new Map();
  for (const file of files) pages.set(file, parse(await readFile(join(folder, file), 'utf8')));
  const dead = [...pages].flatMap(([file, { targets }]) =>
    [...targets].filter((target) => !isAlive(file, target)).map((target) => `${file}: ${target}`),
  );
  return dead.toSorted();

  function isAlive(file, target) {
    const ours = OF_THE_PROJECT.exec(target);
    if (ours) return existsSync(join(ROOT, decodeURIComponent(ours[1])));
    if (/^(?:[a-z]+:|\/\/)/i.test(target)) return true; // elsewhere
    const [path, anchor = ''] = target.split('#');
    const to = path === '' ? file : fileOf(path.split('?')[0], file);
    if (to === undefined || !existsSync(join(folder, to))) return false;
    return anchor === '' || !pages.has(to) || pages.get(to).ids.has(decodeURIComponent(anchor));
  }
}

function fileOf(path, from) {
  if (path.startsWith('/') && !path.startsWith(BASE)) return undefined;
  const absolute = path.startsWith('/')
    ? path.slice(BASE.length)
    : posix.join(posix.dirname(from), path);
  const file = decodeURIComponent(absolute);
  return file === '' || file.endsWith('/') ? `${file}index.html` : file;
}

function parse(html) {
  const values = (name) =>
    [...html.matchAll(new RegExp(`\\s${name}="([^"]*)"`, 'g'))].map(([, value]) => plain(value));
  return { ids: new Set(values('id')), targets: new Set([...values('href'), ...values('src')]) };
}

function plain(value) {
  return value.replaceAll('&amp;', '&').replaceAll('&quot;', '"').replaceAll('&#39;', "'");
}
