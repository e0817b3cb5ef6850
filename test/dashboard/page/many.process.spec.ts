import { LockService, RedisLockStore } from 'nest-holdfast/core';
import { lockDashboard } from 'nest-holdfast/dashboard';
import type { LockDashboardHandler } from 'nest-holdfast/dashboard';
import { Redis } from 'ioredis';
import type { Browser, Page } from 'playwright-core';
import { startChromium } from '../../support/browser/chromium.js';
import type { RedisServer } from '../../support/servers/redis-server.js';
import { sharedServer } from '../../support/servers/shared-server.js';
import { until } from '../../support/until.js';
import { ask } from '../support/browser-requests.js';
import { serve } from '../support/served.js';
import type { Served } from '../support/served.js';
import { keysOn, openPage, says } from './support/opened-page.js';

const FEW = 1_000;
const MANY = 10_000;
const CALLERS = 1_000;

describe('the live page of very many locks', () => {
  let browser: Browser;
  let client: Redis;
  let locks: LockService;
  let elsewhere: LockService;
  let page: LockDashboardHandler;
  let served: Served;

  beforeAll(async () => {
    browser = await startChromium();
    const { port } = await sharedServer<RedisServer>('redis');
    client = new Redis(port);
    locks = new LockService(new RedisLockStore(client));
    elsewhere = new LockService(new RedisLockStore(client));
    page = lockDashboard({ locks, authorize: 'public', path: '/locks' });
    served = await serve(page);
  });
  afterAll(async () => {
    await browser.close();
    page.close();
    await served.close();
    await Promise.all([locks.close(), elsewhere.close()]);
    await client.quit();
  });
  const open = () => openPage(browser, `${served.origin}/locks`);

  const take = (from: number, to: number) =>
    Promise.all(
      Array.from({ length: to - from }, (_, index) =>
        elsewhere.acquire(`stock:${from + index}`, { autoExtend: false, ttl: 300_000 }),
      ),
    );

  /** What the first look costs. A machine that is busy may read a part of so many locks in one round. */
  async function firstLook(opened: Page): Promise<Look> {
    const first = await opened.waitForFunction(
      () => document.querySelector('tbody tr') && performance.now(),
    );
    await says(opened, '200 most urgent of');
    const { body } = await ask(`${served.origin}/locks/api/snapshot`);
    return {
      rowsAfter: Math.round(Number(await first.jsonValue())),
      elements: await opened.evaluate(() => document.querySelectorAll('*').length),
      bytes: Buffer.byteLength(body),
    };
  }

  it(`shows ${MANY} locks and ${CALLERS} waiters for the price of ${FEW}, and finds some of them`, async () => {
    await take(0, FEW);
    const few = await (async () => {
      await using opened = await open();
      return await firstLook(opened.page);
    })();
    await take(FEW, MANY);
    const giveUp = new AbortController();
    const { signal } = giveUp;
    const callers = Array.from({ length: CALLERS }, () =>
      locks.acquire('stock:7', { waitTimeout: 300_000, signal }).catch(() => undefined),
    );
    await until(() => locks.waiting().length === CALLERS);
    await using opened = await open();
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
