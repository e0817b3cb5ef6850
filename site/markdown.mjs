// How the site reads the Markdown of the project, which GitHub reads as well.
import { existsSync, statSync } from 'node:fs';
import { join, posix } from 'node:path';
import { BASE, HOME, ROOT } from './folders.mjs';
import { assetPath, sitePaths } from './pages.mjs';

const IS_ELSEWHERE = /^(?:[a-z]+:|#|\/)/i;

/** The anchor that GitHub gives a heading. */
export function slugify(heading) {
  return heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}_ -]/gu, '')
    .replaceAll(' ', '-');
}

/** Drawings of Mermaid become components; links lead to pages of the site, or to the file on the project's home. */
export function extend(md) {
  const fence = md.renderer.rules.fence;
  md.renderer.rules.fence = (tokens, index, ...rest) => {
    const { info, content } = tokens[index];
    if (info.trim() !== 'mermaid') return fence(tokens, index, ...rest);
    return `<MermaidDrawing code="${encodeURIComponent(content)}" />`;
  };
  md.core.ruler.push('links-of-the-project', ({ tokens, env }) => {
    const source = sourceOf(env.relativePath);
    if (source === undefined) return; // a page of the API reference
    for (const { children } of tokens)
      for (const token of children ?? []) {
        if (token.type === 'link_open') redirect(token, 'href', source);
        if (token.type === 'image') redirect(token, 'src', source);
      }
  });
}

function redirect(token, attribute, source) {
  const target = token.attrGet(attribute);
  if (!IS_ELSEWHERE.test(target)) token.attrSet(attribute, addressOf(target, source));
}

function addressOf(target, source) {
  const [path, anchor] = target.split('#');
  const file = posix.join(posix.dirname(source), decodeURIComponent(path));
  const behind = anchor === undefined ? '' : `#${anchor}`;
  const page = sitePaths().get(file);
  if (page !== undefined) return `/${page}${behind}`;
  const asset = assetPath(file);
  if (asset !== undefined) return BASE + asset;
  const there = join(ROOT, file);
  if (!existsSync(there)) return target; // the check of links tells it
  return `${HOME}/${statSync(there).isDirectory() ? 'tree' : 'blob'}/main/${file}${behind}`;
}

function sourceOf(page) {
  return [...sitePaths()].find(([, to]) => to === page)?.[0];
}
