import { until } from '../../support/until.js';
import { cellsOf, focusedKey, keysOn, says } from './support/opened-page.js';
import { busySnapshot, lineOf, rowOf, snapshotOf } from './support/sample-snapshots.js';
import { useFixturePage } from './support/use-fixture-page.js';

const NASTY = '<img src=x onerror="document.title=\'taken\'">';

describe('the list of locks', () => {
  const { server, open } = useFixturePage();

  it('has of each lock its holder, age, time left, waiters in order and token', async () => {
    server.show(
      snapshotOf({
        locks: [
          rowOf({
            key: 'stock:7',
            name: 'stock:<sku>',
            state: 'jeopardy',
            heldFor: 3_600_000 * 2 + 60_000 * 14,
            remaining: 600_000,
            fencingToken: '9007199254740993',
            waiterCount: 12,
            waiters: lineOf(3),
          }),
        ],
      }),
    );
    await using opened = await open();
    await says(opened.page, 'stock:<sku>');
    expect(await cellsOf(opened.page, 'stock:7')).toEqual({
      State: 'in jeopardy',
      Holder: 'shop-1 4121',
      Age: '2 h 14 min',
      'Time left': expect.stringMatching(/^(10 min 00|9 min 5\d) s$/),
      Waiting: '12 shop-1 4070, shop-3 4087, shop-2 4104, …',
      'Fencing token': '9007199254740993',
    });
    await until(async () => (await opened.page.title()) === '1 lock in jeopardy · Locks');
  });

  it('changes with each snapshot, without another request for the page', async () => {
    server.show(snapshotOf());
    await using opened = await open();
    await says(opened.page, 'No lock is held.');
    await opened.page.evaluate(() => document.body.setAttribute('data-same', 'yes'));
    server.show(snapshotOf({ locks: [rowOf({ key: 'order:1' })] }));
    await until(async () => (await keysOn(opened.page)).join() === 'order:1');
    const overdue = rowOf({ key: 'order:2', state: 'overdue' });
    server.show(snapshotOf({ locks: [overdue, rowOf({ key: 'order:1' })] }));
    await until(async () => (await keysOn(opened.page)).join() === 'order:2,order:1');
    server.show(snapshotOf());
    await says(opened.page, 'No lock is held.');
    expect(await opened.page.getAttribute('body', 'data-same')).toBe('yes');
  });

  it('counts age and time left on between two snapshots', async () => {
    server.show(snapshotOf({ locks: [rowOf({ key: 'a', heldFor: 10_000, remaining: 300_000 })] }));
    await using opened = await open();
    await says(opened.page, '10 s');
    await says(opened.page, '12 s');
    expect((await cellsOf(opened.page, 'a'))['Time left']).toMatch(/^4 min 5\d s$/);
  });

  it('leaves the focus on a row that changes its place, and gives it to the next when it goes', async () => {
    const [a, b, c] = ['a', 'b', 'c'].map((key) => rowOf({ key }));
    server.show(snapshotOf({ locks: [a!, b!, c!] }));
    await using opened = await open();
    await until(async () => (await keysOn(opened.page)).length === 3);
    await opened.page.focus('a[data-key=b]');
    for (const locks of [
      [c!, b!, a!],
      [b!, a!, c!],
      [a!, c!, b!],
    ]) {
      server.show(snapshotOf({ locks }));
      const keys = locks.map(({ key }) => key).join();
      await until(async () => (await keysOn(opened.page)).join() === keys);
      expect(await focusedKey(opened.page)).toBe('b');
    }
    server.show(snapshotOf({ locks: [a!, c!] }));
    await until(async () => (await focusedKey(opened.page)) === 'c');
  });

  it('shows a key with HTML in it as text', async () => {
    const row = rowOf({ key: NASTY, name: NASTY, holders: [{ text: NASTY }], waiterCount: 1 });
    const locks = [{ ...row, waiters: [{ text: NASTY }] }];
    const series = busySnapshot().charts.series.map((each) => ({ ...each, name: NASTY }));
    const charts = { ...busySnapshot().charts, series: series.slice(0, 1) };
    server.show({
      ...snapshotOf({ locks, names: [NASTY], charts, reader: NASTY, store: NASTY }),
      failure: NASTY,
      nodes: [{ name: NASTY, state: NASTY }],
      detail: locks[0]!,
    });
    await using opened = await open();
    await until(async () => (await keysOn(opened.page)).join() === NASTY);
    await opened.page.click('tbody a');
    await until(async () => (await opened.page.innerText('h2')) === NASTY);
    expect(await opened.page.locator('img').count()).toBe(0);
    expect(await opened.page.title()).not.toBe('taken');
    expect([await opened.violations(), opened.strangers, opened.errors]).toEqual([[], [], []]);
  });

  it('keeps the filter in the hash, and asks the server for what passes it', async () => {
    server.show((query) =>
      snapshotOf({
        names: ['order:<id>', 'stock:<sku>'],
        locks: [
          rowOf({ key: `of ${query.get('search')} ${query.get('state')} ${query.get('name')}` }),
        ],
      }),
    );
    await using opened = await open();
    const { page } = opened;
    await says(page, 'of null null null');
    await page.keyboard.press('/');
    await page.keyboard.type('ord/1');
    await page.getByText('overdue', { exact: true }).last().click();
    await page.selectOption('select', { label: 'stock:<sku>' });
    await says(page, 'of ord/1 overdue stock:<sku>');
    expect(new URL(page.url()).hash).toBe('#search=ord%2F1&state=overdue&name=stock%3A%3Csku%3E');
    await page.reload();
    await says(page, 'of ord/1 overdue stock:<sku>');
    expect(await page.inputValue('input[type=search]')).toBe('ord/1');
    await page.getByRole('button', { name: 'Clear' }).click();
    await says(page, 'of null null null');
  });

  it('keeps each part of the filter that is set before the page is drawn again', async () => {
    server.show(() => busySnapshot());
    await using opened = await open();
    const { page } = opened;
    await says(page, 'overdue');
    await page.evaluate(() => {
      const field = document.querySelector<HTMLInputElement>('input[type=search]')!;
      field.value = 'ord/1';
      field.dispatchEvent(new Event('input', { bubbles: true }));
      document.querySelectorAll<HTMLInputElement>('.states input')[2]!.click();
    });
    expect(new URL(page.url()).hash).toBe('#search=ord%2F1&state=overdue');
  });

  it('is gone through with the keyboard alone', async () => {
    server.show((query) => ({
      ...busySnapshot(),
      detail: busySnapshot().locks.find(({ key }) => key === query.get('key')) ?? null,
    }));
    await using opened = await open();
    const { page } = opened;
    await until(async () => (await keysOn(page)).length > 3);
    await page.keyboard.press('/');
    for (let tabs = 0; (await focusedKey(page)) === undefined && tabs < 20; tabs += 1)
      await page.keyboard.press('Tab');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('ArrowDown');
    expect(await focusedKey(page)).toBe('leader:mail-sender');
    const outline = await page.evaluate(
      () => getComputedStyle(document.activeElement!).outlineStyle,
    );
    expect(outline).toBe('solid');
    await page.keyboard.press('Enter');
    await says(page, '2 waiters, in order');
    await page.keyboard.press('Escape');
    await until(async () => (await focusedKey(page)) === 'leader:mail-sender');
  });

  it('is a table with rows and headers for a screen reader, and tells of jeopardy', async () => {
    server.show(busySnapshot());
    await using opened = await open('', { viewport: { width: 390, height: 800 } });
    const { page } = opened;
    await until(async () => (await keysOn(page)).length > 3);
    expect(await page.getByRole('row').count()).toBe((await keysOn(page)).length);
    expect(await page.getByRole('table', { name: 'Held locks' }).count()).toBe(1);
    await until(async () =>
      (await page.getByRole('status').allInnerTexts()).includes('1 lock in jeopardy, 1 overdue'),
    );
  });
});
