import type { Browser } from 'playwright-core';
import { ORDERS, UNITS } from '../../sample-app/start/race.js';
import { startChromium } from '../support/browser/chromium.js';
import { SampleApp } from './start-sample-app.js';

/** Milliseconds for a race, beside whatever else the machine does. */
const RACED_WITHIN = 100_000;

describe('the start page of the sample app, in a browser', () => {
  let app: SampleApp;
  let browser: Browser;
  beforeAll(async () => {
    app = await SampleApp.start();
    browser = await startChromium();
  });
  afterAll(async () => {
    await browser.close();
    await app[Symbol.asyncDispose]();
  });

  it('sends the orders both ways, shows what was sold, and leads to the locks', async () => {
    const page = await browser.newPage();
    page.setDefaultTimeout(RACED_WITHIN);
    const errors: unknown[] = [];
    page.on('pageerror', (error) => errors.push(error));
    await page.goto(await app.nest.getUrl());
    await page.locator('#locked button').click();
    await page.getByText(`Sold ${UNITS} lamps of ${UNITS}, and none twice.`).waitFor();
    expect(await page.innerText('#locked [data-of=soldOut]')).toBe(String(ORDERS - UNITS));
    await page.locator('#unlocked button').click();
    await page.getByText('wait for a lamp that does not exist.').waitFor();
    await page.getByText('The locks, live').click();
    await page.getByText('No lock is held.').waitFor();
    expect(errors).toEqual([]);
  }, 400_000);
});
