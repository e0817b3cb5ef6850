import express from 'express';
import helmet from 'helmet';
import { LockService, MemoryLockStore } from 'nest-holdfast/core';
import { lockDashboard } from 'nest-holdfast/dashboard';
import { startChromium } from '../../support/browser/chromium.js';
import { until } from '../../support/until.js';
import { serve } from '../support/served.js';
import { LivePage } from './support/live-page.js';
import { cellsOf, keysOn, openPage, says } from './support/opened-page.js';

const NASTY = '<img src=x onerror=alert(1)>';

/** The page as users have it: in a browser, from an Express application, of locks on a Redis. */
describe('the live page of locks on Redis', () => {
  let live: LivePage;

  beforeAll(async () => {
    live = await LivePage.start(
      { authorize: () => ({ actor: 'ada' }), actions: ['release'] },
      (page) => express().use('/bare', page).use(helmet()).use('/locks', page),
    );
  });
  afterAll(() => live[Symbol.asyncDispose]());

  it('shows a lock that is taken, waited for, lost and gone, without another request for it', async () => {
    const { locks, elsewhere } = live;
    await using opened = await live.open();
    await says(opened.page, 'No lock is held.');
    await opened.page.evaluate(() => document.body.setAttribute('data-same', 'yes'));
    const lock = await locks.acquire('order:1', { name: 'order:<id>' });
    await until(async () => (await keysOn(opened.page)).join() === 'order:1');
    const { Waiting, 'Fencing token': token } = await cellsOf(opened.page, 'order:1');
    expect([Waiting, token]).toEqual(['none', String(lock.fencingToken)]);

    const giveUp = new AbortController();
    const waiter = elsewhere.acquire('order:1', { waitTimeout: 60_000, signal: giveUp.signal });
    await until(async () => (await cellsOf(opened.page, 'order:1'))['Waiting']!.startsWith('1'));
    giveUp.abort();
    await expect(waiter).rejects.toThrow();

    await live.client.flushall(); // the lock is lost
    await says(opened.page, 'No lock is held.');
    expect(await opened.page.getAttribute('body', 'data-same')).toBe('yes');
    await lock.release();
  });

  it.each([
    ['with the defaults of helmet', '/locks'],
    ['alone', '/bare'],
  ])('is refused nothing by its policy, and asks no other host: %s', async (_, path) => {
    await using held = await live.elsewhere.acquire(NASTY, { name: NASTY });
    await using own = await live.locks.acquire('own', { name: 'own' });
    expect(held.isHeld && own.isHeld).toBe(true);
    await using opened = await live.open(path);
    await until(async () => (await keysOn(opened.page)).toSorted().join() === `${NASTY},own`);
    await opened.page.locator('.u-over').first().waitFor();
    await opened.page.getByText(NASTY).first().click();
    await opened.page.getByText('Release this lock').click();
    await says(opened.page, 'type the fencing token');
    expect(await opened.page.locator('img').count()).toBe(0);
    expect(await opened.violations()).toEqual([]);
    expect([opened.strangers, opened.errors]).toEqual([[], []]);
  });
});

describe('the live page of locks in memory', () => {
  it('releases a lock, whose holder hears of it', async () => {
    const browser = await startChromium();
    const locks = new LockService(new MemoryLockStore());
    const page = lockDashboard({
      locks,
      authorize: () => ({ actor: 'ada' }),
      actions: ['release'],
      path: '/locks',
    });
    const served = await serve(page);
    const held = await locks.acquire('stuck');
    const audits: unknown[] = [];
    locks.events.on('audit', (audit) => audits.push(audit));
    const opened = await openPage(browser, `${served.origin}/locks#key=stuck`);
    await opened.page.getByText('Release this lock').click();
    await opened.page.keyboard.type(String(held.fencingToken));
    await opened.page.keyboard.press('Enter');
    await says(opened.page, 'Released: ');
    await says(opened.page, 'Nobody holds this lock.');
    expect(held.signal.aborted).toBe(true);
    expect(audits).toEqual([expect.objectContaining({ actor: 'ada', via: 'dashboard' })]);
    expect([await opened.violations(), opened.errors]).toEqual([[], []]);
    await browser.close();
    page.close();
    await Promise.all([served.close(), locks.close()]);
  });

  it('is released by no page of another origin', async () => {
    const browser = await startChromium();
    const locks = new LockService(new MemoryLockStore());
    const authorize = () => ({ actor: 'ada' });
    const page = lockDashboard({ locks, authorize, actions: ['release'], path: '/locks' });
    const served = await serve(page);
    const evil = await serve((_, response) =>
      response.setHeader('content-type', 'text/html').end('<p>hello'),
    );
    await using held = await locks.acquire('stuck');
    const opened = await openPage(browser, evil.origin);
    const url = `${served.origin}/locks/api/release`;
    const body = JSON.stringify({ key: 'stuck', fencingToken: String(held.fencingToken) });
    const answers = await opened.page.evaluate(sendEveryWay, { url, body });
    expect(answers).toEqual(['refused', 'refused', 'refused', 'refused']);
    expect(held.signal.aborted).toBe(false);
    expect(held.isHeld).toBe(true);
    await browser.close();
    page.close();
    await Promise.all([served.close(), evil.close()]);
  });
});

/** As a page of another origin could. */
async function sendEveryWay({ url, body }: { url: string; body: string }): Promise<string[]> {
  const json = { 'content-type': 'application/json' };
  const ways: RequestInit[] = [
    { headers: { ...json, 'x-holdfast': '1' } },
    { headers: json },
    { mode: 'no-cors' },
    { headers: { 'x-holdfast': '1' } },
  ];
  const answers: string[] = [];
  for (const way of ways) {
    const asked = fetch(url, { method: 'POST', body, credentials: 'include', ...way });
    answers.push(
      await asked.then(
        ({ type }) => type,
        () => 'refused',
      ),
    );
  }
  return answers;
}
