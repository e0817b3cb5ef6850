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

/** The labels of drawings that are cut off, or that are too small to be read. */
export function unreadableLabels(page: Page): Promise<string[]> {
  return page.evaluate(`(() => {
    const all = [...document.querySelectorAll('.drawing foreignObject > div')];
    const labels = all.filter((label) => label.textContent.trim() !== '');
    const isCut = (label) => label.scrollHeight > label.parentElement.clientHeight + 1;
    const isSmall = (label) => {
      const scale = label.getBoundingClientRect().width / label.offsetWidth;
      return parseFloat(getComputedStyle(label).fontSize) * scale < 10;
    };
    return labels.filter((label) => isCut(label) || isSmall(label)).map((label) => label.textContent);
  })()`);
}

/** How many pixels of the page's first table are hidden. */
export function hiddenOfTable(page: Page): Promise<number> {
  return page.evaluate(`(() => {
    const table = document.querySelector('main table');
    return table.scrollWidth - table.clientWidth;
  })()`);
}
