import type { Page } from 'playwright-core';
import { until } from '../../support/until.js';
import { keysOn, says } from './support/opened-page.js';
import { busySnapshot, rowOf, snapshotOf } from './support/sample-snapshots.js';
import { useFixturePage } from './support/use-fixture-page.js';

describe('the looks of the page', () => {
  const { server, open } = useFixturePage();

  it.each([
    ['\u202eevil:redro', String.raw`\u202eevil:redro`],
    ['order:1\u200b', String.raw`order:1\u200b`],
    ['a\nb\tc\0', String.raw`a\u000ab\u0009c\u0000`],
    ['   ', '␣␣␣'],
    ['order: 7 ', 'order: 7␣'],
    ['a  b', 'a␣␣b'],
    ['caf\u00e9 鍵🔒', 'caf\u00e9 鍵🔒'],
  ])('tell a key from others that look alike: %j', async (key, shown) => {
    server.show(snapshotOf({ locks: [rowOf({ key })], detail: rowOf({ key }) }));
    await using list = await open();
    await says(list.page, 'shop-1');
    expect(await keysOn(list.page)).toEqual([shown]);
    await list.page.locator('tbody a').click();
    await says(list.page, 'Time left');
    expect(await list.page.locator('h2').innerText()).toBe(shown);
  });

  it('have a mark for a wait that has no other beside it, where no line can be drawn', async () => {
    const { charts } = busySnapshot();
    const nowhere = charts.times.map(() => null);
    const only = charts.times.map((_, at) => (at === 60 ? 40 : null));
    const show = (waitP99: readonly (number | null)[]) =>
      server.show(
        busySnapshot({
          charts: { ...charts, series: [{ ...charts.series[0]!, waitP50: nowhere, waitP99 }] },
        }),
      );
    show(nowhere);
    await using opened = await open();
    await opened.page.locator('.u-over').nth(1).waitFor();
    const before = await colouredPixels(opened.page);
    show(only);
    await until(async () => (await colouredPixels(opened.page)) > before + 5);
  });

  it('have room for a time below the right end of a chart', async () => {
    server.show(busySnapshot());
    await using opened = await open();
    const { page } = opened;
    await page.locator('.u-over').first().waitFor();
    const [over, plot] = await Promise.all(
      ['.u-over', '.plot'].map(async (each) => (await page.locator(each).first().boundingBox())!),
    );
    const HALF_A_TIME = 15;
    expect(plot!.x + plot!.width - (over!.x + over!.width)).toBeGreaterThanOrEqual(HALF_A_TIME);
  });
});

/** Pixels of the second chart that are neither grey nor empty. */
function colouredPixels(page: Page): Promise<number> {
  return page.evaluate(() => {
    const canvas = document.querySelectorAll('canvas')[1]!;
    const { data } = canvas.getContext('2d')!.getImageData(0, 0, canvas.width, canvas.height);
    let coloured = 0;
    for (let at = 0; at < data.length; at += 4) {
      const [red, green, blue, alpha] = data.subarray(at, at + 4) as unknown as number[];
      if (alpha! > 128 && Math.max(red!, green!, blue!) - Math.min(red!, green!, blue!) > 60)
        coloured++;
    }
    return coloured;
  });
}
