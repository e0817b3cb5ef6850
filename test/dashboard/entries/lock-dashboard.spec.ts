import { LockService, MemoryLockStore } from 'nest-holdfast/core';
import { lockDashboard } from 'nest-holdfast/dashboard';
import type { LockDashboardHandler } from 'nest-holdfast/dashboard';
import express5 from 'express';
import express4 from 'express4';
import { until } from '../../support/until.js';
import { ask, Events, OF_THE_PAGE, snapshotAt } from '../support/browser-requests.js';
import { serve } from '../support/served.js';
import type { Served } from '../support/served.js';

const ADMIN = { 'x-user': 'ada' };
/** Everything of the page. */
const ADDRESSES = ['', 'page.js', 'page.css', 'api/snapshot', 'api/events', 'api/release'];

type User = { headers: Record<string, unknown> };
const authorize = (request: User) => {
  const user = request.headers['x-user'];
  return user === 'ada' && { actor: user };
};

/** How applications serve the page at `/admin/locks`. */
const MOUNTS: [string, (page: LockDashboardHandler) => Parameters<typeof serve>[0]][] = [
  ['Express 4', (page) => express4().use('/admin/locks', page)],
  ['Express 5', (page) => express5().use('/admin/locks', page)],
  [
    'Express 5, in a router behind a parser of JSON',
    (page) => express5().use(express5.json()).use('/admin', express5.Router().use('/locks', page)),
  ],
  [
    'plain http',
    (page) => (request, response) => {
      if (request.url!.startsWith('/admin/')) page(request, response);
      else response.writeHead(404).end();
    },
  ],
];

describe.each(MOUNTS)('lockDashboard in %s', (name, mount) => {
  const locks = new LockService(new MemoryLockStore());
  const path = name === 'plain http' ? '/admin/locks' : undefined;
  const page = lockDashboard({ locks, authorize, path });
  let served: Served;
  let base: string;

  beforeAll(async () => {
    served = await serve(mount(page));
    base = `${served.origin}/admin/locks/`;
  });
  afterAll(async () => {
    page.close();
    await served.close();
    await locks.close();
  });

  it.each(ADDRESSES)('is closed to all who may not see it: /%s', async (address) => {
    const method = address === 'api/release' ? 'POST' : 'GET';
    const { status, body, headers } = await ask(base + address, { method, headers: OF_THE_PAGE });
    expect([status, JSON.parse(body).code]).toEqual([403, 'LOCK_DASHBOARD_FORBIDDEN']);
    expect(headers['content-security-policy']).toContain("default-src 'none'");
  });

  it('is open to those who may: the page, its files and its data', async () => {
    const html = await ask(base, { headers: ADMIN });
    expect([html.status, html.headers['content-type']]).toEqual([200, 'text/html; charset=utf-8']);
    expect(html.body).toContain('<div id="app"></div>');
    expect(html.headers['cache-control']).toBe('no-store, no-transform');

    const [, script] = /src="([^"]+)"/.exec(html.body)!;
    const [, style] = /rel="stylesheet" href="([^"]+)"/.exec(html.body)!;
    for (const file of [script!, style!]) {
      const { status, headers } = await ask(base + file, { headers: ADMIN });
      expect([status, headers['cache-control']]).toEqual([
        200,
        expect.stringContaining('immutable'),
      ]);
    }

    await locks.withLock('order:7', { name: 'order' }, async () => {
      const events = await Events.open(`${base}api/events`, ADMIN);
      expect(events.headers).toMatchObject({
        'content-type': 'text/event-stream; charset=utf-8',
        'cache-control': 'no-store, no-transform',
        'x-accel-buffering': 'no',
      });
      const { locks: rows } = await events.until(({ total }) => total === 1);
      expect(rows).toMatchObject([{ key: 'order:7', name: 'order', isLocal: true, mode: 'write' }]);
      events.close();
    });
  });

  it.each([
    ['admin/locks', './locks/'],
    ['admin/locks/', './'],
    ['admin/locks?search=a%2Fb', './locks/'],
  ])('the base of /%s is %s, relative to the address in the browser', async (address, expected) => {
    const { body } = await ask(`${served.origin}/${address}`, { headers: ADMIN });
    expect(body).toContain(`<base href="${expected}">`);
    expect(new URL(expected, `${served.origin}/${address}`).href).toBe(base);
  });

  it('has no other addresses, and takes no other methods', async () => {
    expect((await ask(`${base}other`, { headers: ADMIN })).status).toBe(404);
    expect((await ask(`${base}constructor`, { headers: ADMIN })).status).toBe(404);
    expect((await ask(base, { headers: ADMIN, method: 'POST' })).status).toBe(405);
    expect((await ask(`${base}api/release`, { headers: ADMIN })).status).toBe(405);
    expect(await ask(base, { headers: ADMIN, method: 'HEAD' })).toMatchObject({ status: 200, body: '' }); // prettier-ignore
  });

  it('a file of another version is not kept', async () => {
    const { headers } = await ask(`${base}page.js?older`, { headers: ADMIN });
    expect(headers['cache-control']).toBe('no-store, no-transform');
  });
});

describe('lockDashboard', () => {
  const locks = new LockService(new MemoryLockStore());
  afterAll(() => locks.close());

  it.each([
    [
      'a broken check',
      async () => {
        throw new Error('the session store is away');
      },
    ],
    ['a visitor without a name', () => ({ actor: '' })],
    ['nobody', () => undefined],
  ])('lets no visitor in with %s', async (_, check) => {
    const page = lockDashboard({ locks, authorize: check });
    const served = await serve(page);
    const { status, body } = await ask(`${served.origin}/api/snapshot`);
    expect(status).toBeGreaterThanOrEqual(403);
    expect(body).not.toContain('session store');
    page.close();
    await served.close();
  });

  it('gives what the check throws to Express', async () => {
    const page = lockDashboard({ locks, authorize: () => Promise.reject(new Error('away')) });
    const app = express5().use('/locks', page);
    app.use((error: Error, _: unknown, response: express5.Response, _next: unknown) => {
      response.status(503).send(error.message);
    });
    const served = await serve(app);
    expect(await ask(`${served.origin}/locks`)).toMatchObject({ status: 503, body: 'away' });
    page.close();
    await served.close();
  });

  it("'public' lets every visitor look", async () => {
    const page = lockDashboard({ locks, authorize: 'public' });
    const served = await serve(page);
    expect(await snapshotAt(`${served.origin}/`)).toMatchObject({ store: 'memory', actions: [] });
    page.close();
    await served.close();
  });

  it('is read by no other origin, also where the application allows that', async () => {
    const page = lockDashboard({ locks, authorize: 'public' });
    const app = express5().use((_, response, next) => {
      response.setHeader('access-control-allow-origin', 'https://evil.example');
      next();
    });
    const served = await serve(app.use(page));
    const { headers } = await ask(`${served.origin}/api/snapshot`);
    expect(headers['access-control-allow-origin']).toBeUndefined();
    page.close();
    await served.close();
  });

  it('says goodbye to those who look when it is closed, and the server can close', async () => {
    const page = lockDashboard({ locks, authorize: 'public' });
    const served = await serve(page);
    const events = await Events.open(`${served.origin}/api/events`);
    await events.until(() => true);
    page.close();
    page.close();
    await new Promise((resolve) => served.server.close(resolve));
    await until(() => events.isOver);
    expect(events.names.at(-1)).toBe('bye');
  });

  it('a later request is 503', async () => {
    const page = lockDashboard({ locks, authorize: 'public' });
    const served = await serve(page);
    page.close();
    expect((await ask(`${served.origin}/api/events`)).status).toBe(503);
    await served.close();
  });
});
