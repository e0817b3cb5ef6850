import type { Browser, BrowserContextOptions } from 'playwright-core';
import { builtPage } from '../../../../lib/dashboard/built-page.js';
import { startChromium } from '../../../support/browser/chromium.js';
import { openPage } from './opened-page.js';
import type { OpenedPage } from './opened-page.js';
import { PageFixture } from './page-fixture.js';
import { snapshotOf } from './sample-snapshots.js';

/** The page of a `PageFixture`, and a browser for it. */
export interface FixturePage {
  readonly server: PageFixture;
  /** While the tests run. */
  readonly browser: () => Browser;
  readonly open: (hash?: string, options?: BrowserContextOptions) => Promise<OpenedPage>;
}

/** Starts both before the tests of the `describe` that calls this, and ends them afterwards. */
export function useFixturePage(): FixturePage {
  const server = new PageFixture(builtPage, snapshotOf());
  let browser: Browser;

  beforeAll(async () => {
    browser = await startChromium();
    await server.open();
  });
  afterAll(async () => {
    await browser.close();
    await server.close();
  });
  return {
    server,
    browser: () => browser,
    open: (hash = '', options = {}) => openPage(browser, server.url + hash, options),
  };
}
