import { execFile } from 'node:child_process';
import { mkdtemp, readFile, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Browser } from 'playwright-core';
import { startChromium } from '../../support/browser/chromium.js';
import { ROOT, readPage } from '../support/markdown.js';

const PAGES = { 'docs/performance.md': 'docs/charts', 'bench/RESULTS.md': 'bench/charts' };

const read = (path: string) => readFile(join(ROOT, path), 'utf8');

describe('the figures of bench/results.json', () => {
  let made: string;

  beforeAll(async () => {
    made = await mkdtemp(join(tmpdir(), 'holdfast-report-'));
    const report = join(ROOT, 'bench/report.mjs');
    await promisify(execFile)('node', [report, '--kept', '--to', made]);
  });

  afterAll(() => rm(made, { recursive: true }));

  it.each(Object.entries(PAGES))(
    'are those of %s and its charts (else: node bench/report.mjs --kept)',
    async (page, charts) => {
      expect(await read(page)).toBe(await readFile(join(made, page.split('/')[1]!), 'utf8'));
      const names = await readdir(join(ROOT, charts));
      expect(names.length).toBeGreaterThan(1);
      for (const name of names)
        expect(await read(`${charts}/${name}`)).toBe(
          await readFile(join(made, 'charts', name), 'utf8'),
        );
    },
  );
});

describe('docs/performance.md', () => {
  const { prose } = readPage('docs/performance.md');
  const rows = prose.split('\n').filter((line) => line.startsWith('| '));
  const cells = rows.map((row) => row.split(/ *\| */).slice(1, -1));

  it('leads with one table: waiting, cost and memory, of every library', () => {
    expect(prose.indexOf('\n| ')).toBeLessThan(prose.indexOf('\n## '));
    const [head, , ...body] = cells;
    expect(head!.slice(1, 4)).toEqual(['nest-holdfast', 'redlock', 'redis-semaphore']);
    for (const what of [
      '128 callers',
      '1,000 callers',
      '4 processes',
      'no other',
      'held',
      'released',
    ])
      expect(body.some(([label]) => label!.includes(what))).toBe(true);
  });

  it('says in words where another library is better', () => {
    const [, losses = ''] = prose.split('\n## Where another library is better\n');
    const behind = cells.slice(2).filter(([, own]) => !own!.startsWith('**'));
    expect(behind.length).toBeGreaterThan(0);
    for (const [label] of behind) expect(losses).toContain(`**${label!.split(': ')[0]}**`);
  });
});

describe('the pictures', () => {
  let browser: Browser;

  beforeAll(async () => {
    browser = await startChromium();
  });

  afterAll(() => browser.close());

  it.each(['light', 'dark'] as const)(
    'have labels that can be read, in %s',
    async (colorScheme) => {
      const page = await browser.newPage({ colorScheme });
      const problems: string[] = [];
      for (const folder of [...Object.values(PAGES), 'docs/images'])
        for (const name of await readdir(join(ROOT, folder))) {
          if (!name.endsWith('.svg')) continue;
          await page.setContent(await read(`${folder}/${name}`));
          const found = problemsOf(await page.evaluate<Picture>(MEASURE));
          problems.push(...found.map((problem) => `${folder}/${name}: ${problem}`));
        }
      expect(problems).toEqual([]);
      await page.close();
    },
  );
});

interface Box {
  readonly left: number;
  readonly right: number;
  readonly top: number;
  readonly bottom: number;
}
interface Label extends Box {
  readonly text: string;
  readonly fill: string;
  /** It stands on a bar, and not on the page. */
  readonly inverse: boolean;
}
interface Picture {
  readonly page: Box & { readonly fill: string };
  readonly labels: readonly Label[];
}

/** What the browser has drawn. As text, for it runs there. */
const MEASURE = `(() => {
  const measured = (element) => {
    const { left, right, top, bottom } = element.getBoundingClientRect();
    const inverse = element.classList.contains('inverse');
    return { left, right, top, bottom, inverse, text: element.textContent, fill: getComputedStyle(element).fill };
  };
  const labels = [...document.querySelectorAll('svg text')].map(measured);
  return { page: measured(document.querySelector('svg > rect')), labels };
})()`;

/** Labels that overlap, leave the picture, or have hardly another colour than it. */
function problemsOf({ page, labels }: Picture): string[] {
  const isInside = (label: Label) =>
    label.left >= page.left &&
    label.right <= page.right &&
    label.top >= page.top &&
    label.bottom <= page.bottom;
  const isPale = ({ fill, inverse }: Label) =>
    !inverse && Math.abs(brightness(fill) - brightness(page.fill)) < 100;
  return labels.flatMap((label, index) => [
    ...(isInside(label) ? [] : [`"${label.text}" is outside`]),
    ...(isPale(label) ? [`"${label.text}" is pale`] : []),
    ...labels
      .slice(index + 1)
      .filter((other) => overlap(label, other))
      .map((other) => `"${label.text}" overlaps "${other.text}"`),
  ]);
}

/** The boxes of lines have some room above and below the letters. */
function overlap(a: Box, b: Box): boolean {
  return a.left < b.right && b.left < a.right && a.top < b.bottom - 2 && b.top < a.bottom - 2;
}

/** From 0 to 255, of `rgb(1, 2, 3)`. */
function brightness(colour: string): number {
  const [red = 0, green = 0, blue = 0] = colour.match(/\d+/g)!.map(Number);
  return 0.3 * red + 0.6 * green + 0.1 * blue;
}
