import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { until } from '../../../support/until.js';

/** A page of a browser, with what it did that it should not have done. */
export interface OpenedPage extends AsyncDisposable {
  readonly page: Page;
  /** The requests that the content security policy refused. */
  readonly violations: () => Promise<string[]>;
  /** Requests to other hosts. */
  readonly strangers: readonly string[];
  readonly errors: readonly string[];
}

/** Opens a page for the first time, in a window for a desk. */
export async function openPage(
  browser: Browser,
  url: string,
  options: BrowserContextOptions = {},
): Promise<OpenedPage> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, ...options });
  const page = await context.newPage();
  const strangers: string[] = [];
  const errors: string[] = [];
  page.on('request', (request) => {
    if (new URL(request.url()).host !== new URL(url).host) strangers.push(request.url());
  });
  page.on('pageerror', (error) => errors.push(String(error)));
  await page.addInitScript(noteViolations);
  await page.goto(url);
  return {
    page,
    violations: () => page.evaluate(() => (window as unknown as Noted).violations),
    strangers,
    errors,
    [Symbol.asyncDispose]: () => context.close(),
  };
}

interface Noted {
  violations: string[];
}

function noteViolations(): void {
  const noted = window as unknown as Noted;
  noted.violations = [];
  document.addEventListener('securitypolicyviolation', ({ violatedDirective, blockedURI }) =>
    noted.violations.push(`${violatedDirective} ${blockedURI}`),
  );
}

/** Resolves when the page says these words. */
export async function says(page: Page, words: string): Promise<void> {
  await until(async () => (await page.locator('body').innerText()).includes(words), {
    every: 20,
    what: `the page says "${words}"`,
  });
}

/** The keys of the rows, from above. */
export function keysOn(page: Page): Promise<string[]> {
  return page.locator('tbody tr .lock a').allInnerTexts();
}

/** The texts of one row's cells, by their columns. */
export async function cellsOf(page: Page, key: string): Promise<Record<string, string>> {
  const row = page.locator('tbody tr').filter({ has: page.locator(`a[data-key="${key}"]`) });
  const cells = await row.locator('td[data-label]').all();
  const pairs = cells.map(async (cell) => [
    await cell.getAttribute('data-label'),
    (await cell.innerText()).replaceAll(/\s+/g, ' ').trim(),
  ]);
  return Object.fromEntries(await Promise.all(pairs)) as Record<string, string>;
}

/** The key of the row that has the focus. */
export function focusedKey(page: Page): Promise<string | undefined> {
  return page.evaluate(() => (document.activeElement as HTMLElement).dataset['key']);
}

export async function scrollsSideways(page: Page): Promise<boolean> {
  return page.evaluate(() => document.documentElement.scrollWidth > window.innerWidth);
}
