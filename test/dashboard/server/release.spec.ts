import express5 from 'express';
import express4 from 'express4';
import { LockService, MemoryLockStore } from 'nest-holdfast/core';
import type { Lock, LockAuditEvent } from 'nest-holdfast/core';
import { lockDashboard } from 'nest-holdfast/dashboard';
import type { LockDashboardHandler } from 'nest-holdfast/dashboard';
import { RedisLocks } from '../../stores/redis/locks.js';
import { RedisServer } from '../../support/servers/redis-server.js';
import { until } from '../../support/until.js';
import { ask, OF_THE_PAGE } from '../support/browser-requests.js';
import type { Asked } from '../support/browser-requests.js';
import { serve } from '../support/served.js';
import type { Served } from '../support/served.js';

const ADMIN = { ...OF_THE_PAGE, 'x-user': 'ada' };
const KEY = `order:"<7>'`;

type User = { headers: Record<string, string | undefined> };
const authorize = ({ headers }: User) =>
  headers['x-user'] === undefined || { actor: headers['x-user'] };

/** Ways in which applications parse bodies before the page gets them. */
const PARSERS: [string, (page: LockDashboardHandler) => Parameters<typeof serve>[0]][] = [
  ['no parser', (page) => page],
  ['Express 4 with a parser of JSON', (page) => express4().use(express4.json(), page)],
  [
    'Express 4 with a parser of forms',
    (page) => express4().use(express4.urlencoded({ extended: true }), page),
  ],
  ['Express 5 with a parser of JSON', (page) => express5().use(express5.json(), page)],
];

describe.each(PARSERS)('A release from the page, with %s', (_, mount) => {
  const locks = new LockService(new MemoryLockStore());
  const page = lockDashboard({ locks, authorize, actions: ['release'] });
  const audited: LockAuditEvent[] = [];
  let served: Served;
  let held: Lock;

  beforeAll(async () => {
    served = await serve(mount(page));
    locks.events.on('audit', (event) => audited.push(event));
  });
  beforeEach(async () => {
    audited.length = 0;
    held = await locks.acquire(KEY);
  });
  afterEach(() => held.release());
  afterAll(async () => {
    page.close();
    await served.close();
    await locks.close();
  });

  const post = (asked: Asked = {}) =>
    ask(`${served.origin}/api/release`, {
      method: 'POST',
      headers: ADMIN,
      body: JSON.stringify({ key: KEY, fencingToken: String(held.fencingToken), reason: 'stuck' }),
      ...asked,
    });

  it('evicts the holder of the token, and the audit tells who did it', async () => {
    const token = held.fencingToken;
    const released = post();
    await new Promise((resolve) => held.signal.addEventListener('abort', resolve));
    await held.release();
    const { status, body } = await released;
    expect([status, JSON.parse(body)]).toEqual([
      200,
      expect.objectContaining({ released: true, tokenBefore: String(token) }),
    ]);
    expect(audited).toMatchObject([
      { actor: 'ada', via: 'dashboard', action: 'evict', key: KEY, reason: 'stuck' },
    ]);
  });

  it('does not evict the next holder', async () => {
    const body = JSON.stringify({ key: KEY, fencingToken: String(held.fencingToken - 1n) });
    const answer = await post({ body });
    expect(JSON.parse(answer.body)).toMatchObject({ released: false, outcome: 'not-held' });
    expect([held.signal.aborted, audited]).toEqual([false, []]);
  });

  it.each<[string, Record<string, string | undefined>, number]>([
    ['of another origin', { 'sec-fetch-site': 'cross-site' }, 403],
    ['of another subdomain', { 'sec-fetch-site': 'same-site' }, 403],
    ['that a person typed', { 'sec-fetch-site': 'none' }, 403],
    ['of another origin, by an old browser', { 'sec-fetch-site': undefined, origin: 'https://evil.example' }, 403], // prettier-ignore
    ['of no origin', { 'sec-fetch-site': undefined, origin: 'null' }, 403],
    ['that does not say where it comes from', { 'sec-fetch-site': undefined }, 403],
    ['without the header', { 'x-holdfast': undefined }, 403],
    ['of a form', { 'content-type': 'application/x-www-form-urlencoded' }, 415],
    ['of a form with text', { 'content-type': 'text/plain' }, 415],
    ['without a type', { 'content-type': undefined }, 415],
  ])('is refused %s', async (_name, changed, expected) => {
    const headers = Object.entries({ ...ADMIN, ...changed }).filter(([, value]) => value);
    const { status, body } = await post({ headers: Object.fromEntries(headers) as never });
    expect([status, JSON.parse(body).code]).toEqual([expected, 'LOCK_DASHBOARD_FOREIGN_REQUEST']);
    expect([held.signal.aborted, audited]).toEqual([false, []]);
  });

  it.each<[string, (origin: string) => Record<string, string>]>([
    ['its origin', (origin) => ({ origin })],
    ['that of the proxy', () => ({ origin: 'https://ops.example', 'x-forwarded-host': 'ops.example' })], // prettier-ignore
  ])('of an old browser is known by %s', async (_name, headersOf) => {
    const { 'sec-fetch-site': _site, ...rest } = ADMIN;
    const body = JSON.stringify({ key: 'free', fencingToken: '1' });
    const headers = { ...rest, ...headersOf(served.origin) };
    expect(await post({ headers, body })).toMatchObject({ status: 200 });
  });

  it('is refused to those whose name is not known', async () => {
    const { status, body } = await post({ headers: OF_THE_PAGE });
    expect([status, JSON.parse(body).code]).toEqual([403, 'LOCK_DASHBOARD_NO_ACTOR']);
  });

  it.each([
    ['no token', { key: KEY }, 'LOCK_OPTION_INVALID'],
    ['a number as the token', { key: KEY, fencingToken: 7 }, 'LOCK_OPTION_INVALID'],
    ['a token of another kind', { key: KEY, fencingToken: '-1' }, 'LOCK_OPTION_INVALID'],
    ['no key', { fencingToken: '1' }, 'LOCK_KEY_INVALID'],
    ['several keys', { key: [KEY], fencingToken: '1' }, 'LOCK_KEY_INVALID'],
    [
      'a reason that is no text',
      { key: KEY, fencingToken: '1', reason: {} },
      'LOCK_OPTION_INVALID',
    ],
    ['no object', [1], 'LOCK_DASHBOARD_BODY_INVALID'],
  ])('is refused with %s', async (_name, body, code) => {
    const answer = await post({ body: JSON.stringify(body) });
    expect([answer.status, JSON.parse(answer.body).code]).toEqual([400, code]);
  });
});

describe('A release from the page, of a lock on Redis', () => {
  let server: RedisServer;

  beforeAll(async () => {
    server = await RedisServer.shared();
  });
  afterAll(() => server.stop());

  it('tells its holder, and hands the key to the next waiter', async () => {
    await using operator = new RedisLocks(server.url);
    await using holder = new RedisLocks(server.url);
    await using waiter = new RedisLocks(server.url);
    const page = lockDashboard({ locks: operator.locks, authorize, actions: ['release'] });
    const served = await serve(page);
    const held = await holder.locks.acquire(KEY);
    await held.extend(30_000); // from now on its process listens
    const waiting = waiter.locks.acquire(KEY, { waitTimeout: 60_000 });
    const seen: string[] = [];
    const askHolder = operator.store.askHolder.bind(operator.store);
    jest.spyOn(operator.store, 'askHolder').mockImplementation(async (...named) => {
      const answer = await askHolder(...named);
      seen.push(answer.state);
      return answer;
    });
    const body = JSON.stringify({ key: KEY, fencingToken: String(held.fencingToken) });
    const asked = ask(`${served.origin}/api/release`, { method: 'POST', headers: ADMIN, body });
    await until(() => held.signal.aborted);
    expect(held.signal.reason).toMatchObject({ code: 'LOCK_LOST', reason: 'revoked' });
    await until(async () => seen.includes('held')); // the holder has said that it is the named one
    await held.release();
    const next = await waiting;
    expect(next.fencingToken > held.fencingToken).toBe(true);
    const { status, body: answer } = await asked;
    expect([status, JSON.parse(answer)]).toMatchObject([200, { released: true }]);
    expect(await next.release()).toBe(true);
    page.close();
    await served.close();
  });
});

describe('A release', () => {
  const locks = new LockService(new MemoryLockStore());
  afterAll(() => locks.close());

  it.each([
    ['what is no JSON', '{"key"', 400],
    ['far too much', JSON.stringify({ key: 'x'.repeat(100_000) }), 413],
  ])('is refused for %s', async (_, body, expected) => {
    const page = lockDashboard({ locks, authorize, actions: ['release'] });
    const served = await serve(page);
    const asked = { method: 'POST', headers: ADMIN, body };
    expect((await ask(`${served.origin}/api/release`, asked)).status).toBe(expected);
    page.close();
    await served.close();
  });

  it('is refused by the server where it is not allowed, for any request of a browser', async () => {
    const page = lockDashboard({ locks, authorize });
    const served = await serve(page);
    const held = await locks.acquire('mine');
    const body = JSON.stringify({ key: 'mine', fencingToken: String(held.fencingToken) });
    const answer = await ask(`${served.origin}/api/release`, {
      method: 'POST',
      headers: ADMIN,
      body,
    });
    expect([answer.status, JSON.parse(answer.body).code]).toEqual([
      403,
      'LOCK_DASHBOARD_READ_ONLY',
    ]);
    expect(held.signal.aborted).toBe(false);
    await held.release();
    page.close();
    await served.close();
  });
});
