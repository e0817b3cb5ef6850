import { execFile } from 'node:child_process';
import { appendFile, cp, mkdtemp, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { promisify } from 'node:util';
import type { Browser } from 'playwright-core';
import { startChromium } from '../../support/browser/chromium.js';
import { until } from '../../support/until.js';
import { ROOT, pagePaths } from '../support/markdown.js';
import {
  brokenPictures,
  coloursOfCode,
  isDark,
  hiddenOfTable,
  overflow,
  problemsOf,
  unreadableLabels,
} from './support/page-probes.js';
import { type SiteServer, serveSite } from './support/site-server.js';

const MINUTES = 60_000;
const PHONE = { width: 390, height: 780 };
const DESK = { width: 1280, height: 800 };
const LEFT_OUT = ['node_modules', 'dist', 'coverage', '.git', 'out'];

const run = promisify(execFile);

/** The site of a copy of the project, as `npm run docs` builds it. */
async function buildSite(project: string, ...words: string[]): Promise<string> {
  const program = [join(project, 'site/build.mjs'), ...words];
  const env = { ...process.env, NODE_OPTIONS: '', NODE_ENV: 'production' };
  return (await run(process.execPath, program, { cwd: project, env })).stderr;
}

async function copyProject(): Promise<string> {
  const copy = await mkdtemp(join(tmpdir(), 'holdfast-site-'));
  const filter = (path: string) => !LEFT_OUT.includes(basename(path));
  await cp(ROOT, copy, { recursive: true, filter });
  await symlink(join(ROOT, 'node_modules'), join(copy, 'node_modules'));
  return copy;
}

describe('npm run docs', () => {
  let project: string;
  let server: SiteServer;
  let browser: Browser;

  beforeAll(async () => {
    project = await copyProject();
    await buildSite(project);
    server = await serveSite(join(project, 'site/dist/html'));
    browser = await startChromium();
  }, 10 * MINUTES);

  afterAll(async () => {
    await browser?.close();
    server?.close();
    await rm(project, { recursive: true, force: true });
  });

  it.each([
    ['light', DESK],
    ['dark', DESK],
    ['light', PHONE],
    ['dark', PHONE],
  ] as const)(
    'makes pages that show all they have, %s on %o',
    async (colorScheme, viewport) => {
      const context = await browser.newContext({ colorScheme, viewport });
      const page = await context.newPage();
      const problems = problemsOf(page);

      await page.goto(`${server.url}architecture.html`);
      await until(async () => (await page.locator('.drawing svg').count()) === 2);
      expect((await page.locator('.drawing svg').first().boundingBox())!.height).toBeGreaterThan(
        100,
      );
      expect(await unreadableLabels(page)).toEqual([]);
      expect(await isDark(page)).toBe(colorScheme === 'dark');
      for (const name of ['index', 'performance', 'observability', 'stores/redis', 'changelog']) {
        await page.goto(`${server.url}${name}.html`, { waitUntil: 'load' });
        expect(await brokenPictures(page)).toEqual([]);
        expect(await overflow(page)).toBeLessThanOrEqual(0);
      }
      await page.goto(`${server.url}stores/redis.html`);
      expect(await coloursOfCode(page)).toBeGreaterThan(2);
      expect(problems).toEqual([]);
      await context.close();
    },
    3 * MINUTES,
  );

  it.each([1_280, 1_440, 1_600])(
    'makes pages that show their tables whole on a screen of %i pixels',
    async (width) => {
      const context = await browser.newContext({ viewport: { width, height: 800 } });
      const page = await context.newPage();
      for (const name of ['index', 'performance', 'troubleshooting', 'migrating']) {
        await page.goto(`${server.url}${name}.html`, { waitUntil: 'load' });
        expect(await hiddenOfTable(page)).toBeLessThan(20);
      }
      await context.close();
    },
    3 * MINUTES,
  );

  it(
    'makes a navigation that leads to every page, on a phone',
    async () => {
      const context = await browser.newContext({ viewport: PHONE });
      const page = await context.newPage();
      await page.goto(server.url);
      await page.locator('.VPLocalNav .menu').click();
      await page.locator('.VPSidebar.open').waitFor();
      const links = await page
        .locator('.VPSidebar a')
        .evaluateAll((all) => all.map((link) => link.getAttribute('href')));
      expect(links.length).toBeGreaterThan(pagePaths().length);
      await page.locator('.VPSidebar a[href="/nest.html"]').click();
      await until(
        async () => (await page.locator('h1').textContent())?.startsWith('Nest') === true,
      );
      await context.close();
    },
    3 * MINUTES,
  );

  it(
    'makes a reference of what each entry exports',
    async () => {
      const page = await browser.newPage();
      await page.goto(`${server.url}api/nest-holdfast/core/classes/LockService.html`);
      expect(await page.locator('main').textContent()).toContain('withLock');
      await page.goto(`${server.url}api/nest-holdfast/index.html`);
      expect(await page.locator('main').textContent()).toContain('DistributedLock');
      await page.close();
    },
    3 * MINUTES,
  );
});

it(
  'npm run docs fails at a dead link: to a page, to a heading, to a file of the project, of a picture',
  async () => {
    const project = await copyProject();
    const planted =
      '\n[a](no-page.md) [b](keys.md#no-heading) [c](../lib/no-file.ts) ![d](images/no.png)\n';
    await appendFile(join(project, 'docs/nest.md'), planted);
    const failure = (await buildSite(project, '--without-api').catch(
      (error: unknown) => error,
    )) as {
      readonly code: number;
      readonly stderr: string;
    };
    await rm(project, { recursive: true, force: true });
    expect(failure.code).toBe(1);
    expect(failure.stderr.match(/^dead link: .*$/gm)).toEqual([
      'dead link: nest.html: ../lib/no-file.ts',
      'dead link: nest.html: ./no-page.html',
      'dead link: nest.html: /images/no.png',
      'dead link: nest.html: /keys.html#no-heading',
    ]);
  },
  10 * MINUTES,
);
