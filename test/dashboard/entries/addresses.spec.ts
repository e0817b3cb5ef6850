import type { IncomingMessage } from 'node:http';
import { connect } from 'node:net';
import express4 from 'express4';
import express5 from 'express';
import { LockService, MemoryLockStore } from 'nest-holdfast/core';
import { lockDashboard } from 'nest-holdfast/dashboard';
import type { LockDashboardHandler } from 'nest-holdfast/dashboard';
import { Deferred } from '../../nest/support/deferred.js';
import { until } from '../../support/until.js';
import { ask, Events, OF_THE_PAGE, snapshotAt } from '../support/browser-requests.js';
import { serve } from '../support/served.js';
import type { Served } from '../support/served.js';

type Mount = (page: LockDashboardHandler) => Parameters<typeof serve>[0];

const MOUNTS: readonly (readonly [string, Mount])[] = [
  ['Express 4', (page) => express4().use('/locks', page)],
  ['Express 5', (page) => express5().use('/locks/', page)],
  ['plain http', (page) => page],
];

/** Sends the path as it is: no client tidies it up. */
function raw(origin: string, line: string, head = ''): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(Number(new URL(origin).port), '127.0.0.1');
    let text = '';
    socket.setEncoding('utf8');
    socket.on('data', (chunk: string) => (text += chunk));
    socket.on('error', reject).on('close', () => resolve(text));
    socket.write(`${line} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n${head}\r\n`);
  });
}

describe.each(MOUNTS)('The addresses of the page in %s', (name, mount) => {
  const locks = new LockService(new MemoryLockStore());
  const path = name === 'plain http' ? '/locks/' : undefined;
  const authorize = () => ({ actor: 'ada' });
  const page = lockDashboard({ locks, authorize, path, actions: ['release'] });
  let served: Served;

  beforeAll(async () => {
    served = await serve(mount(page));
  });
  afterAll(async () => {
    page.close();
    await served.close();
    await locks.close();
  });

  it.each([
    '/locks/../locks/api/snapshot',
    '/locks/page.js/../../package.json',
    '/locks/..%2f..%2fpackage.json',
    '/locks/%2e%2e/package.json',
    '/locks/page.js%00.css',
    '/locks///',
    '//locks/api/snapshot',
    '/locks/api/snapshot/',
    '/locks/%61pi/snapshot',
    '/lockspage.js',
    '/locks/__proto__',
    '/locks/hasOwnProperty',
    '/locks\\api\\snapshot',
  ])('are exact: %s is none', async (address) => {
    expect(await raw(served.origin, `GET ${address}`)).toMatch(/^HTTP\/1\.1 (404|400) /);
  });

  it.each(['/locks', '/locks/', '/locks?', '/locks/?a=//b'])('are found: %s', async (address) => {
    expect(await raw(served.origin, `GET ${address}`)).toMatch(/^HTTP\/1\.1 200 /);
  });

  it('answer HEAD without a body, also of the stream, and say which method they take', async () => {
    for (const address of ['', 'page.js', 'page.css', 'api/snapshot', 'api/events']) {
      const { status, body } = await ask(`${served.origin}/locks/${address}`, { method: 'HEAD' });
      expect([address, status, body]).toEqual([address, 200, '']);
    }
    for (const method of ['PUT', 'DELETE', 'PATCH', 'TRACE']) {
      const answer = await ask(`${served.origin}/locks/api/snapshot`, { method });
      expect([answer.status, answer.headers['allow']]).toEqual([405, 'GET, HEAD']);
    }
    const answer = await ask(`${served.origin}/locks/api/release`);
    expect([answer.status, answer.headers['allow']]).toEqual([405, 'POST']);
  });

  it('allow no other origin to ask, for any preflight', async () => {
    const headers = {
      origin: 'https://evil.example',
      'access-control-request-method': 'POST',
      'access-control-request-headers': 'x-holdfast',
    };
    const { headers: told } = await ask(`${served.origin}/locks/api/release`, { method: 'OPTIONS', headers }); // prettier-ignore
    expect(Object.keys(told).filter((each) => each.startsWith('access-control'))).toEqual([]);
  });

  const { origin: own } = new URL('http://127.0.0.1');
  it.each<[string, Record<string, string>, number]>([
    ['of the page', { 'sec-fetch-site': 'same-origin' }, 400],
    ['of another site', { 'sec-fetch-site': 'cross-site' }, 403],
    ['of the same site, but another origin', { 'sec-fetch-site': 'same-site' }, 403],
    ['of a bookmark', { 'sec-fetch-site': 'none' }, 403],
    ['that says both', { 'sec-fetch-site': 'cross-site', origin: own }, 403],
    ['of nobody', {}, 403],
    ['of a sandbox', { origin: 'null' }, 403],
    ['of another origin', { origin: 'https://evil.example' }, 403],
    ['of another port', { origin: 'http://127.0.0.1:1' }, 403],
    ['of an origin that is none', { origin: '127.0.0.1' }, 403],
  ])('take a release %s, or not', async (_, site, expected) => {
    const { 'content-type': type, 'x-holdfast': mark } = OF_THE_PAGE;
    const headers = { 'content-type': type, 'x-holdfast': mark, ...site };
    const asked = { method: 'POST', headers, body: '{}' };
    expect((await ask(`${served.origin}/locks/api/release`, asked)).status).toBe(expected);
  });

  it('take a release of their own origin from an old browser', async () => {
    const { 'sec-fetch-site': _, ...others } = OF_THE_PAGE;
    const headers = { ...others, origin: served.origin };
    const { status } = await ask(`${served.origin}/locks/api/release`, { method: 'POST', headers, body: '{}' }); // prettier-ignore
    expect(status).toBe(400); // no key
  });

  it.each([
    'key=',
    'search=%',
    'search=%00%ff',
    'state=',
    'name=__proto__',
    '&&==',
    'key=%F0%9F%98%80',
  ])('bear any query: %s', async (query) => {
    expect(await snapshotAt(`${served.origin}/locks/`, `?${query}`)).toMatchObject({ total: 0 });
  });

  it.each([`key=${'x'.repeat(513)}`, 'state=constructor'])('refuse %.20s', async (query) => {
    const { status, body } = await ask(`${served.origin}/locks/api/snapshot?${query}`);
    expect([status, typeof JSON.parse(body).code]).toEqual([400, 'string']);
  });
});

describe('A visitor of the page', () => {
  it('that is gone without a word costs nothing once the connection is given up', async () => {
    let lists = 0;
    const store = Object.assign(new MemoryLockStore(), {
      list: () => (lists++, Promise.resolve({ locks: [] })),
    });
    const locks = new LockService(store);
    const page = lockDashboard({ locks, authorize: 'public' });
    const served = await serve(page);
    const viewers = await Promise.all(
      Array.from({ length: 50 }, () => Events.open(`${served.origin}/api/events`)),
    );
    await Promise.all(viewers.map((viewer) => viewer.until(() => true)));
    expect(lists).toBeLessThan(5);
    for (const viewer of viewers) viewer.close();
    await until(async () => {
      const before = lists;
      await new Promise((resolve) => setTimeout(resolve, 3_000));
      return lists === before;
    });
    page.close();
    await served.close();
    await locks.close();
  });

  it.each<[string, () => Promise<never>]>([
    ['an error', () => Promise.reject(new Error('late'))],
    ['nothing', () => Promise.reject()],
  ])('that leaves before the check throws %s disturbs no other', async (_, fail) => {
    const locks = new LockService(new MemoryLockStore());
    const left = new Deferred();
    let checks = 0;
    let isChecked = false;
    const authorize = async ({ socket }: IncomingMessage) => {
      if (++checks === 1) socket.once('close', left.resolve);
      await left.promise;
      isChecked = true;
      return fail();
    };
    const page = lockDashboard({ locks, authorize });
    const served = await serve(page);
    const socket = connect(Number(new URL(served.origin).port), '127.0.0.1');
    socket.write('GET / HTTP/1.1\r\nhost: localhost\r\n\r\n');
    await until(() => checks > 0);
    expect(isChecked).toBe(false);
    socket.destroy();
    await until(() => isChecked);
    expect((await ask(`${served.origin}/`)).status).toBe(500);
    page.close();
    await served.close();
    await locks.close();
  });
});
