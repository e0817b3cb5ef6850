import { LockService, RedisLockStore } from 'nest-holdfast/core';
import { lockDashboard } from 'nest-holdfast/dashboard';
import type { LockDashboardHandler } from 'nest-holdfast/dashboard';
import { Redis } from 'ioredis';
import type { Browser } from 'playwright-core';
import { startChromium } from '../../support/browser/chromium.js';
import type { RedisServer } from '../../support/servers/redis-server.js';
import { sharedServer } from '../../support/servers/shared-server.js';
import { until } from '../../support/until.js';
import { serve } from '../support/served.js';
import type { Served } from '../support/served.js';
import { keysOn, openPage, says } from './support/opened-page.js';

const MANY = 10_000;
const CALLERS = 1_000;
/** Milliseconds. Ten times what a page of that size may take, for a busy machine. */
const ANSWERED_WITHIN = 10_000;

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

  it(`shows ${MANY} locks and ${CALLERS} waiters within a moment, and finds one of them`, async () => {
    const keys = Array.from({ length: MANY }, (_, index) => `stock:${index}`);
    const options = { autoExtend: false, ttl: 300_000 };
    await Promise.all(keys.map((key) => elsewhere.acquire(key, options)));
    const giveUp = new AbortController();
    const { signal } = giveUp;
    const callers = Array.from({ length: CALLERS }, () =>
      locks.acquire('stock:7', { waitTimeout: 300_000, signal }).catch(() => undefined),
    );
    const since = performance.now();
    await using opened = await open();
    await says(opened.page, '200 most urgent of 10,000');
    const shownAt = performance.now();
    await opened.page.fill('input[type=search]', 'STOCK:4242');
    await until(async () => (await keysOn(opened.page)).join() === 'stock:4242');
    const foundAt = performance.now();
    await opened.page.fill('input[type=search]', '');
    await until(async () => (await keysOn(opened.page)).length === 200);
    await opened.page.evaluate(() => (location.hash = '#key=stock:7'));
    await says(opened.page, '1,000 waiters, in order');
    expect(shownAt - since).toBeLessThan(ANSWERED_WITHIN);
    expect(foundAt - shownAt).toBeLessThan(ANSWERED_WITHIN);
    giveUp.abort();
    await Promise.all(callers);
  });
});
