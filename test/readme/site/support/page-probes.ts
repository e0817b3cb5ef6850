import type { Page } from 'playwright-core';

/** What a page could not load, what it loads from elsewhere, and its errors. */
export function problemsOf(page: Page): string[] {
  const problems: string[] = [];
  page.on('pageerror', (error) => problems.push(String(error)));
  page.on('response', (answer) => {
    if (answer.status() >= 400) problems.push(`${answer.status()} ${answer.url()}`);
  });
  page.on('request', (request) => {
    if (!/^(?:http:\/\/127\.0\.0\.1|data:|blob:)/.test(request.url())) problems.push(request.url());
  });
  return problems;
}

export function isDark(page: Page): Promise<boolean> {
  return page.evaluate("document.documentElement.classList.contains('dark')");
}

/** The pictures of a page that are not shown. */
export function brokenPictures(page: Page): Promise<string[]> {
  return page.evaluate(`(async () => {
    const all = [...document.images];
    await Promise.all(all.map((image) => image.decode().catch(() => undefined)));
    return all.filter((image) => image.naturalWidth === 0).map((image) => image.src);
  })()`);
}

/** How many pixels the page is wider than the screen. */
export function overflow(page: Page): Promise<number> {
  return page.evaluate('document.documentElement.scrollWidth - innerWidth');
}

export function coloursOfCode(page: Page): Promise<number> {
  return page.evaluate(`(() => {
    const words = [...document.querySelectorAll('pre code span span')];
    return new Set(words.map((word) => getComputedStyle(word).color)).size;
  })()`);
}
