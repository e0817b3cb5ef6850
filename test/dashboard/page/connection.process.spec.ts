import type { Page } from 'playwright-core';
import { until } from '../../support/until.js';
import { says } from './support/opened-page.js';
import { rowOf, snapshotOf } from './support/sample-snapshots.js';
import { useFixturePage } from './support/use-fixture-page.js';

describe('the connection of the page', () => {
  const { server, open } = useFixturePage();

  it('is made again when the server was away, and meanwhile the page says so', async () => {
    await using opened = await open();
    const { page } = opened;
    await says(page, 'Live');
    await server.close();
    await until(async () =>
      /No connection since \d\d:\d\d:\d\d, trying again/.test(await page.innerText('.status')),
    );
    server.show(snapshotOf({ locks: [rowOf({ key: 'order:1' })] }));
    await server.open();
    await says(page, 'order:1');
    await says(page, 'Live');
    expect(await page.innerText('.status')).not.toContain('No connection');
  });

  it('does not count on while the server is away', async () => {
    server.show(snapshotOf({ locks: [rowOf({ key: 'a', heldFor: 5_000 })] }));
    await using opened = await open();
    const { page } = opened;
    await says(page, 'Live');
    await server.close();
    await says(page, 'No connection since');
    const age = await page.innerText('[data-label=Age]');
    await server.open();
    await says(page, 'Live');
    expect(Number.parseInt(age, 10)).toBeLessThan(10);
  });

  it('is told of in words when the server refuses it', async () => {
    await using opened = await open();
    await says(opened.page, 'Live');
    server.refuses = 403;
    for (const response of server.streams.keys()) response.end();
    await says(opened.page, 'You may not see this page now (403).');
    server.refuses = undefined;
    await says(opened.page, 'Live');
  });

  it('asks for what a proxy holds back, and for a stream again when it does not', async () => {
    const every = 200;
    server.show(snapshotOf({ every }));
    server.holdsBack = true;
    await using opened = await open();
    const { page } = opened;
    await says(page, 'No lock is held.');
    await says(page, 'Live');
    server.show(snapshotOf({ every, locks: [rowOf({ key: 'order:3' })] }));
    await says(page, 'order:3');
    server.holdsBack = false;
    await until(() => server.streams.size === 1);
    server.show(snapshotOf({ locks: [rowOf({ key: 'order:5' })] }));
    await says(page, 'order:5');
  });

  it('is not called lost when a stream ends and the next one is there', async () => {
    await using opened = await open();
    const { page } = opened;
    await says(page, 'Live');
    await page.evaluate(noteStatus);
    for (let time = 0; time < 3; time++) {
      const before = [...server.streams.keys()];
      for (const response of before) response.end();
      await until(() => server.streams.size === 1 && !server.streams.has(before[0]!));
    }
    server.show(snapshotOf({ locks: [rowOf({ key: 'order:4' })] }));
    await says(page, 'order:4');
    expect(await page.evaluate(() => (window as unknown as Noted).said)).not.toContain('No conn');
  });

  it('tells of a sign-in that answers in its place', async () => {
    await using opened = await open();
    const { page } = opened;
    await says(page, 'Live');
    await page.route('**/api/**', (route) => route.fulfill({ contentType: 'text/html', body: '<p>Who are you?' })); // prettier-ignore
    for (const response of server.streams.keys()) response.end();
    await says(page, 'Something else answers in place of the server: sign in again.');
  });

  it('is closed while the tab is hidden, and opened when it is seen again', async () => {
    await using opened = await open();
    const { page } = opened;
    await says(page, 'Live');
    expect(server.streams.size).toBe(1);
    await setHidden(page, true);
    await until(() => server.streams.size === 0);
    server.show(snapshotOf({ locks: [rowOf({ key: 'order:2' })] }));
    await setHidden(page, false);
    await says(page, 'order:2');
    expect(server.streams.size).toBe(1);
  });

  it('is one, with any filter', async () => {
    await using opened = await open();
    const { page } = opened;
    await says(page, 'Live');
    await page.keyboard.press('/');
    await page.keyboard.type('order');
    await until(() =>
      [...server.streams.values()].some((query) => query.get('search') === 'order'),
    );
    await until(() => server.streams.size === 1);
  });
});

interface Noted {
  said: string;
}

function noteStatus(): void {
  const noted = window as unknown as Noted;
  const status = document.querySelector('.status')!;
  noted.said = '';
  const note = () => (noted.said += status.textContent);
  new MutationObserver(note).observe(status, { childList: true, subtree: true, characterData: true }); // prettier-ignore
}

/** A browser without a window shows every tab, so the page is told what a browser with one would tell it. */
async function setHidden(page: Page, isHidden: boolean): Promise<void> {
  await page.evaluate((hidden) => {
    Object.defineProperty(document, 'hidden', { configurable: true, value: hidden });
    document.dispatchEvent(new Event('visibilitychange'));
  }, isHidden);
}
