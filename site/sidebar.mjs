// The sidebar: the groups of navigation.json, the pages that it does not name, and the entries of the package.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { API, ROOT } from './folders.mjs';
import { sitePaths } from './pages.mjs';

export function sidebar() {
  const read = (path) => readFileSync(join(ROOT, path), 'utf8');
  const paths = sitePaths();
  const groups = JSON.parse(read('site/navigation.json'));
  const named = new Set(Object.values(groups).flat());
  const others = [...paths.keys()].filter((path) => !named.has(path));
  const group = ([text, pages]) => ({ text, collapsed: text !== 'Start', items: pages.map(item) });
  const item = (path) => ({ text: titleOf(read(path)), link: linkTo(paths.get(path)) });
  const all = Object.entries(groups).map(([text, pages]) => [
    text,
    pages.filter((path) => paths.has(path)),
  ]);
  return [
    ...[...all, ['More', others]].filter(([, pages]) => pages.length > 0).map(group),
    ...api(),
  ];

  function api() {
    if (!existsSync(API)) return [];
    const entries = Object.keys(JSON.parse(read('lib/entries.json')));
    const names = ['nest-holdfast', ...entries.map((name) => `nest-holdfast/${name}`)];
    const items = names.map((name) => ({ text: name, link: `/api/${name}/` }));
    return [{ text: 'API reference', link: '/api/', collapsed: true, items }];
  }
}

function linkTo(page) {
  return `/${page.replace(/(index)?\.md$/, '')}`;
}

function titleOf(markdown) {
  return /^# (.*)$/m.exec(markdown)[1].replaceAll('`', '');
}
