import type { Page } from 'playwright-core';
import type { LockRow } from '../../../lib/dashboard/api.js';
import { until } from '../../support/until.js';
import { says } from './support/opened-page.js';
import { lineOf, rowOf, snapshotOf } from './support/sample-snapshots.js';
import { useFixturePage } from './support/use-fixture-page.js';

const HELD = rowOf({ key: 'order:7', fencingToken: '41', waiters: lineOf(100), waiterCount: 112 });

describe('the page of one lock', () => {
  const { server, open: openAt } = useFixturePage();
  const open = () => openAt('#key=order%3A7');
  const show = (detail: LockRow | null, actions: readonly 'release'[] = ['release']) =>
    server.show({ ...snapshotOf({ actions, locks: detail ? [detail] : [] }), detail });
  const dialogOf = (page: Page) => page.getByRole('dialog');
  const openDialog = async (page: Page) => {
    await page.getByRole('button', { name: 'Release this lock' }).click();
    await until(async () => (await dialogOf(page).count()) === 1);
  };
  const confirmWith = async (page: Page, token: string) => {
    await openDialog(page);
    await page.keyboard.type(token);
    await page.keyboard.press('Enter');
  };

  it('has the whole line, in order, and says when the lock is free', async () => {
    show(HELD);
    await using opened = await open();
    const { page } = opened;
    await says(page, '112 waiters, in order');
    const line = await page.locator('.waiters li').allInnerTexts();
    expect(line).toHaveLength(100);
    expect(line.slice(0, 2).map((words) => words.split(' started')[0]!.trim())).toEqual([
      'shop-1, pid 4070',
      'shop-3, pid 4087',
    ]);
    await says(page, 'and 12 more');
    show(null);
    await says(page, 'Nobody holds this lock.');
    show(HELD);
    await says(page, '112 waiters, in order');
  });

  it('releases only when the token is typed, and tells what came of it', async () => {
    show(HELD);
    server.release = { status: 200, body: { released: true, outcome: 'taken', tokenAfter: '42' } };
    await using opened = await open();
    const { page } = opened;
    await confirmWith(page, '14');
    expect(await page.getByRole('button', { name: 'Release', exact: true }).isDisabled()).toBe(
      true,
    );
    expect(server.releases).toEqual([]);
    await page.keyboard.press('Control+A');
    await page.keyboard.type('41');
    await page.keyboard.press('Tab');
    await page.keyboard.type('it hangs');
    await page.keyboard.press('Enter');
    await says(page, 'Released: the lock was taken from its holder.');
    expect(server.releases).toEqual([{ key: 'order:7', fencingToken: '41', reason: 'it hangs' }]);
    show(null);
    await says(page, 'Nobody holds this lock.');
    expect(await dialogOf(page).count()).toBe(1);
    await page.keyboard.press('Enter');
    await until(async () => (await dialogOf(page).count()) === 0);
  });

  it('releases the holder that the dialog was opened for, and no later one', async () => {
    show(HELD);
    server.releases.length = 0;
    server.release = {
      status: 200,
      body: { released: false, outcome: 'not-held', holder: lineOf(1)[0] },
    };
    await using opened = await open();
    await openDialog(opened.page);
    show({ ...HELD, fencingToken: '42', waiterCount: 5, waiters: lineOf(5) });
    await until(async () => (await opened.page.locator('.waiters li').count()) === 5);
    await opened.page.keyboard.type('41');
    await opened.page.keyboard.press('Enter');
    await says(opened.page, 'Not released: shop-1, pid 4070 has the lock by now.');
    expect(server.releases).toEqual([{ key: 'order:7', fencingToken: '41' }]);
  });

  it('asks for the token that the store knows, where the holder does not answer', async () => {
    show(HELD);
    server.releases.length = 0;
    const body = { released: false, outcome: 'unconfirmed', tokenBefore: '49' };
    server.release = { status: 200, body };
    await using opened = await open();
    await confirmWith(opened.page, '41');
    await says(opened.page, 'type the fencing token 49');
    server.release = { status: 200, body: { released: true, outcome: 'taken' } };
    await opened.page.keyboard.type('49');
    await opened.page.keyboard.press('Enter');
    await says(opened.page, 'Released: the lock was taken from its holder.');
    expect(server.releases.map(({ fencingToken }) => fencingToken)).toEqual(['41', '49']);
  });

  it.each([
    ['itself', { code: 'NO', message: 'You may only look' }, 'You may only look'],
    ['by a guard', { statusCode: 403, message: 'Forbidden' }, 'the server answers with the status 403.'], // prettier-ignore
  ])('tells why the server does not release: %s', async (_, body, words) => {
    show(HELD);
    server.release = { status: 403, body };
    await using opened = await open();
    await confirmWith(opened.page, '41');
    await says(opened.page, `Not released: ${words}`);
  });

  it('keeps the focus inside the dialog, closes it with Escape, and gives the focus back', async () => {
    show(HELD);
    await using opened = await open();
    const { page } = opened;
    await says(page, '112 waiters');
    await openDialog(page);
    for (let tabs = 0; tabs < 8; tabs += 1) {
      await page.keyboard.press('Tab');
      const place = await page.evaluate(() => {
        const { activeElement } = document;
        return activeElement === document.body || activeElement!.closest('dialog') !== null;
      });
      expect(place).toBe(true);
    }
    await page.keyboard.press('Escape');
    await until(async () => (await dialogOf(page).count()) === 0);
    await says(page, '112 waiters');
    const focused = () => page.evaluate(() => document.activeElement!.textContent);
    await until(async () => (await focused()) === 'Release this lock…');
    await page.keyboard.press('Escape');
    await until(async () => !page.url().includes('key='));
  });

  it('cannot be released where the server allows it not, or where no token is known', async () => {
    show(HELD, []);
    await using opened = await open();
    const { page } = opened;
    await says(page, '112 waiters');
    expect(await page.getByRole('button').count()).toBe(0);
    show({ ...HELD, fencingToken: undefined });
    await says(page, 'Its fencing token is not known');
    expect(await page.getByRole('button').isDisabled()).toBe(true);
  });
});
