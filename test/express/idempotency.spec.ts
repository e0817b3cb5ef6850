import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Request, RequestHandler } from 'express';
import { type Lock, LockService, RedisLockStore } from 'nest-holdfast/core';
import { lockErrorHandler } from 'nest-holdfast/express';
import request from 'supertest';
import { Deferred } from '../nest/support/deferred.js';
import { readPage } from '../readme/support/markdown.js';
import { standing } from '../stores/support/app-instance.js';
import { OwnClient } from '../stores/redis/locks.js';
import { RedisServer } from '../support/servers/redis-server.js';
import { until } from '../support/until.js';
import { VERSIONS } from './support/express-app.js';
import { Served } from './support/served.js';

interface Answer {
  readonly status: number;
  readonly body: unknown;
}
type Work = (request: Request, lock: Lock) => Promise<Answer>;
interface Recipe {
  idempotent(options: object, work: Work): RequestHandler;
}

const RECIPE = 'idempotency.ts';
const CALLER = 'X-Account';
const KEY = 'Idempotency-Key';

/** The block of the page, as a file. */
const directory = mkdtempSync(join(__dirname, 'blocks-')); // inside the project, so that imports resolve as a user's do
const block = readPage('docs/express.md').blocks.find(({ marks }) =>
  marks.includes(`file=${RECIPE}`),
);
writeFileSync(join(directory, RECIPE), block!.code);

afterAll(() => rmSync(directory, { recursive: true, force: true }));

describe.each(VERSIONS)('the Idempotency-Key recipe in $version', ({ express }) => {
  let server: RedisServer;
  let client: OwnClient;
  let recipe: Recipe;
  let locks: LockService;
  let work: jest.Mock<Promise<Answer>, [Request, Lock]>;

  beforeAll(async () => {
    recipe = (await import(join(directory, RECIPE))) as Recipe;
    server = await RedisServer.shared();
    client = new OwnClient(server.url);
  });

  beforeEach(async () => {
    await client.redis.flushall();
    locks = new LockService(new RedisLockStore(client.redis));
    work = jest.fn(async ({ body }: Request, _lock: Lock) => ({
      status: 201,
      body: { paid: body.amount, turn: work.mock.calls.length },
    }));
  });

  afterEach(() => locks.close());

  afterAll(async () => {
    await client[Symbol.asyncDispose]();
    await server.stop();
  });

  function shop(own = locks) {
    const app = express();
    app.set('env', 'test'); // where the default error handler of Express prints nothing
    const callerOf = ({ headers }: Request) => String(headers[CALLER.toLowerCase()]);
    const handler = recipe.idempotent({ locks: own, redis: client.redis, callerOf }, work);
    app.use(express.json());
    app.post(['/payments', '/refunds'], handler);
    app.use(lockErrorHandler());
    return app;
  }

  /** Is sent only when it is awaited, or `sent`. */
  const pay = (app = shop(), { key = 'k1', amount = 5, path = '/payments', caller = 'ann' } = {}) =>
    request(app).post(path).set(KEY, key).set(CALLER, caller).send({ amount });
  const sent = (answer: ReturnType<typeof pay>) => answer.then((response) => response);

  it('does the work, and a retry gets the same answer without it', async () => {
    await pay().expect(201, { paid: 5, turn: 1 });
    await pay().expect(201, { paid: 5, turn: 1 });
    expect(work).toHaveBeenCalledTimes(1);
    await pay(shop(), { key: 'k2' }).expect(201, { paid: 5, turn: 2 });
  });

  it('lets a duplicate wait for the first one, and gives it the same answer', async () => {
    const bank = new Deferred<Answer>();
    work.mockReturnValue(bank.promise);
    const first = sent(pay());
    await until(() => work.mock.calls.length === 1);
    const elsewhere = new LockService(new RedisLockStore(client.redis));
    const second = sent(pay(shop(elsewhere)));
    await standing(server, 'idempotency:ann:k1', 1);
    bank.resolve({ status: 201, body: { paid: 5 } });
    const answers = await Promise.all([first, second]);
    expect(answers.map(({ status, body }) => ({ status, body }))).toEqual([
      { status: 201, body: { paid: 5 } },
      { status: 201, body: { paid: 5 } },
    ]);
    expect(work).toHaveBeenCalledTimes(1);
    await elsewhere.close();
  });

  it('answers 409 to a duplicate that has waited long enough', async () => {
    const impatient = new LockService(new RedisLockStore(client.redis), { waitTimeout: 0 });
    await locks.withLock('idempotency:ann:k1', async () => {
      const { body } = await pay(shop(impatient))
        .expect(409)
        .expect('Retry-After', /^[12]$/);
      expect(body.code).toBe('LOCK_TIMEOUT');
    });
    expect(work).not.toHaveBeenCalled();
    await impatient.close();
  });

  it.each([
    ['body', { amount: 6 }],
    ['path', { path: '/refunds' }],
  ])('answers 422 to a used key with another %s', async (_, other) => {
    await pay();
    const { body } = await pay(shop(), other).expect(422);
    expect(body.message).toContain('another request');
    expect(work).toHaveBeenCalledTimes(1);
    await pay().expect(201, { paid: 5, turn: 1 });
  });

  it('keeps callers apart, however their names and keys look', async () => {
    await pay(shop(), { caller: 'ann:x', key: 'y' }).expect(201, { paid: 5, turn: 1 });
    await pay(shop(), { caller: 'ann', key: 'x:y' }).expect(201, { paid: 5, turn: 2 });
    await pay(shop(), { caller: 'ann', key: '{x}:y' }).expect(201, { paid: 5, turn: 3 });
    await pay(shop(), { caller: 'ann', key: '{x}:y' }).expect(201, { paid: 5, turn: 3 });
  });

  it('answers 400 without a key, and for one that is none', async () => {
    const app = shop();
    const { body } = await request(app).post('/payments').send({ amount: 5 }).expect(400);
    expect(body.message).toContain(KEY);
    await pay(app, { key: 'two words' }).expect(400);
    await pay(app, { key: 'k'.repeat(101) }).expect(400);
    await pay(app, { key: '{'.repeat(100) }).expect(201);
    expect(work).toHaveBeenCalledTimes(1);
  });

  it.each([
    ['an answer of 5xx', async () => ({ status: 502, body: { message: 'the bank is closed' } })],
    ['an error', () => Promise.reject(new Error('the bank is closed'))],
  ])('does not keep %s: a retry does the work', async (_, failure) => {
    work.mockImplementationOnce(failure);
    expect((await pay()).status).toBeGreaterThanOrEqual(500);
    await pay().expect(201, { paid: 5, turn: 2 });
    await pay().expect(201, { paid: 5, turn: 2 });
  });

  it('keeps an answer of 4xx: it would be the same again', async () => {
    work.mockResolvedValueOnce({ status: 402, body: { message: 'no money' } });
    await pay().expect(402, { message: 'no money' });
    await pay().expect(402, { message: 'no money' });
    expect(work).toHaveBeenCalledTimes(1);
  });

  it('goes on when the client goes away, and answers its retry', async () => {
    const bank = new Deferred<Answer>();
    work.mockReturnValue(bank.promise);
    await using served = await Served.start(shop());
    const wire = await served.connect();
    const head = `POST /payments HTTP/1.1\r\nHost: test\r\n${KEY}: k1\r\n${CALLER}: ann\r\n`;
    const body = '{"amount":5}';
    const type = `Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n`;
    wire.write(head + type + body);
    await until(() => work.mock.calls.length === 1);
    wire.destroy();
    await served.untilAlone();
    const elsewhere = new LockService(new RedisLockStore(client.redis));
    const retry = sent(pay(shop(elsewhere)));
    await standing(server, 'idempotency:ann:k1', 1);
    bank.resolve({ status: 201, body: { paid: 5 } });
    expect((await retry).body).toEqual({ paid: 5 });
    expect(work).toHaveBeenCalledTimes(1);
    await elsewhere.close();
  });

  it('the fencing token refuses the answer of a first request whose lock ended while it was paused', async () => {
    const paused = new Deferred<Answer>();
    const retried = new Deferred<Answer>();
    work.mockReturnValueOnce(paused.promise).mockReturnValueOnce(retried.promise);
    const mortal = new LockService(new RedisLockStore(client.redis), {
      autoExtend: false,
    });
    const first = sent(pay(shop(mortal)));
    await until(() => work.mock.calls.length === 1);
    await client.redis.del('lock:idempotency:ann:k1'); // as if its ttl had passed
    const retry = sent(pay());
    await until(() => work.mock.calls.length === 2);
    paused.resolve({ status: 201, body: { paid: 'late' } });
    const late = await first;
    expect({ status: late.status, code: late.body.code }).toEqual({
      status: 409,
      code: 'LOCK_STALE',
    });
    retried.resolve({ status: 201, body: { paid: 'once' } });
    expect((await retry).body).toEqual({ paid: 'once' });
    expect((await pay()).body).toEqual({ paid: 'once' });
    const [before, after] = work.mock.calls.map(([, lock]) => lock.fencingToken);
    expect(after! > before!).toBe(true);
    await mortal.close();
  });

  it('keeps an answer for a day, and nothing for ever', async () => {
    await pay();
    const keys = await client.redis.keys('*');
    expect(keys.length).toBeGreaterThan(1);
    const ttls = await Promise.all(keys.map((key) => client.redis.ttl(key)));
    for (const ttl of ttls) expect(ttl).toBeGreaterThan(0);
    expect(await client.redis.ttl('{idempotency%3Aann%3Ak1}')).toBeGreaterThan(86_000);
  });
});
