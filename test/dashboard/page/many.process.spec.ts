import type { Page } from 'playwright-core';
import { until } from '../../support/until.js';
import { ask } from '../support/browser-requests.js';
import { LivePage } from './support/live-page.js';
import { keysOn, says } from './support/opened-page.js';

const FEW = 1_000;
const MANY = 10_000;
const CALLERS = 1_000;

describe('the live page of very many locks', () => {
  let live: LivePage;

  beforeAll(async () => {
    live = await LivePage.start({ authorize: 'public', path: '/locks' }, (page) => page);
  });
  afterAll(() => live[Symbol.asyncDispose]());

  const take = (from: number, to: number) =>
    Promise.all(
      Array.from({ length: to - from }, (_, index) =>
        live.elsewhere.acquire(`stock:${from + index}`, { autoExtend: false, ttl: 300_000 }),
      ),
    );

  /** The cost of the first look. A machine that is busy may read a part of so many locks in one round. */
  async function firstLook(opened: Page): Promise<Look> {
    const first = await opened.waitForFunction(
      () => document.querySelector('tbody tr') && performance.now(),
    );
    await says(opened, '200 most urgent of');
    const { body } = await ask(`${live.origin}/locks/api/snapshot`);
    return {
      rowsAfter: Math.round(Number(await first.jsonValue())),
      elements: await opened.evaluate(() => document.querySelectorAll('*').length),
      bytes: Buffer.byteLength(body),
    };
  }

  it(`shows ${MANY} locks and ${CALLERS} waiters for the price of ${FEW}, and finds some of them`, async () => {
    await take(0, FEW);
    const few = await (async () => {
      await using opened = await live.open();
      return await firstLook(opened.page);
    })();
    await take(FEW, MANY);
    const giveUp = new AbortController();
    const { signal } = giveUp;
    const callers = Array.from({ length: CALLERS }, () =>
      live.locks.acquire('stock:7', { waitTimeout: 300_000, signal }).catch(() => undefined),
    );
    await until(() => live.locks.waiting().length === CALLERS);
    await using opened = await live.open();
    const many = await firstLook(opened.page);
    console.log(`first rows after ${many.rowsAfter} ms, of ${FEW} locks after ${few.rowsAfter} ms`);
    expect(few.elements).toBeGreaterThan(200);
    expect(many.elements).toBeLessThan(1.2 * few.elements);
    expect(many.bytes).toBeLessThan(1.2 * few.bytes);
    expect(many.bytes).toBeLessThan(200_000);

    await opened.page.fill('input[type=search]', 'STOCK:42');
    await until(async () => {
      const keys = await keysOn(opened.page);
      return keys.length > 0 && keys.every((key) => key.startsWith('stock:42'));
    });
    await opened.page.fill('input[type=search]', '');
    await until(async () => (await keysOn(opened.page)).length === 200);
    await opened.page.evaluate(() => (location.hash = '#key=stock:7'));
    await says(opened.page, '1,000 waiters, in order');
    giveUp.abort();
    await Promise.all(callers);
  });
});

interface Look {
  /** Milliseconds from the start of the navigation to the first rows. */
  readonly rowsAfter: number;
  readonly elements: number;
  /** Of a snapshot. */
  readonly bytes: number;
}
