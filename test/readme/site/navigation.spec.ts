import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT, pagePaths } from '../support/markdown.js';

const groups = JSON.parse(readFileSync(join(ROOT, 'site/navigation.json'), 'utf8')) as Readonly<
  Record<string, readonly string[]>
>;

it('the navigation of the site names every page, once', () => {
  const named = Object.values(groups).flat();
  expect(named.toSorted()).toEqual([...pagePaths(), 'CHANGELOG.md'].toSorted());
});
