import type { Express } from 'express';
import { LockService, MemoryLockStore, RedisLockStore } from 'nest-holdfast/core';
import { lockErrorHandler, lockRequest } from 'nest-holdfast/express';
import request from 'supertest';
import { nothingLeft } from '../support/faults/left-behind.js';
import { Deferred } from '../nest/support/deferred.js';
import { OwnClient } from '../stores/redis/locks.js';
import { RedisServer } from '../support/servers/redis-server.js';
import { until } from '../support/until.js';
import { VERSIONS } from './support/express-app.js';

const CASES = VERSIONS.flatMap((each) =>
  (['memory', 'Redis'] as const).map((store) => ({ ...each, store })),
);

describe.each(CASES)('requests that share a lock, in $version, on $store', ({ express, store }) => {
  let redis: RedisServer;
  let client: OwnClient;
  let processes: LockService[];
  /** The requests that run, and the most that ever ran together. */
  let running: string[];
  let together: string[];

  beforeAll(async () => {
    if (store !== 'Redis') return;
    redis = await RedisServer.shared();
    client = new OwnClient(redis.url);
  });

  beforeEach(() => {
    const memory = new MemoryLockStore();
    const open = () => (store === 'Redis' ? new RedisLockStore(client.redis) : memory);
    processes = [1, 2].map(() => new LockService(open(), { retryDelay: 5, retryJitter: 0 }));
    running = [];
    together = [];
  });

  afterEach(async () => {
    await Promise.all(processes.map((each) => each.close()));
    if (store === 'Redis') await nothingLeft(redis);
  });

  afterAll(async () => {
    await client?.[Symbol.asyncDispose]();
    await redis?.stop();
  });

  /** One application per process. Each request runs until its gate opens. */
  function apps(gates: Readonly<Record<string, Promise<void>>>): Express[] {
    return processes.map((locks) => {
      const app = express();
      app.set('env', 'test');
      const atOnce = { locks, waitTimeout: 0 };
      app.use('/read', lockRequest('doc', { locks, mode: 'read' }));
      app.use('/write', lockRequest('doc', { locks }));
      app.use('/write-now', lockRequest('doc', atOnce));
      app.use('/export', lockRequest('export', { locks, permits: 2 }));
      app.use('/export-now', lockRequest('export', { ...atOnce, permits: 2 }));
      app.use('/export-wrong', lockRequest('export', { ...atOnce, permits: 3 }));
      app.use('/:kind/:name', (req, res, next) => {
        const name = `${req.params.kind} ${req.params.name}`;
        running.push(name);
        if (running.length > together.length) together = [...running];
        res.once('close', () => (running = running.filter((each) => each !== name)));
        Promise.resolve(gates[req.params.kind]).then(() => res.send(name), next);
      });
      app.use(lockErrorHandler());
      return app;
    });
  }

  const get = (app: Express, path: string) =>
    request(app)
      .get(path)
      .then(({ status, body }) => ({ status, code: body.code }));

  it('readers of all processes run together, a writer alone', async () => {
    const reading = new Deferred();
    const [here, there] = apps({ read: reading.promise });
    const readers = [get(here!, '/read/1'), get(here!, '/read/2'), get(there!, '/read/3')];
    await until(() => running.length === 3);
    expect(await get(there!, '/write-now/4')).toEqual({ status: 409, code: 'LOCK_TIMEOUT' });
    const writers = [get(here!, '/write/5'), get(there!, '/write/6')];
    reading.resolve();
    for (const { status } of await Promise.all([...readers, ...writers])) expect(status).toBe(200);
    expect(together.toSorted()).toEqual(['read 1', 'read 2', 'read 3']);
  });

  it('a reader waits for the writer', async () => {
    const writing = new Deferred();
    const [here, there] = apps({ write: writing.promise });
    const writer = get(here!, '/write/1');
    await until(() => running.length === 1);
    const reader = get(there!, '/read/2');
    const impatient = processes[1]!.acquire('doc', { mode: 'read', waitTimeout: 50 });
    await expect(impatient).rejects.toThrow('within 50 ms');
    writing.resolve();
    expect((await Promise.all([writer, reader])).map(({ status }) => status)).toEqual([200, 200]);
    expect(together).toHaveLength(1);
  });

  it('permits bound how many requests run at the same time', async () => {
    const exporting = new Deferred();
    const [here, there] = apps({ export: exporting.promise });
    const names = [1, 2, 3, 4, 5, 6];
    const all = names.map((n) => get(n % 2 ? here! : there!, `/export/${n}`));
    await until(() => running.length === 2);
    expect(await get(there!, '/export-now/7')).toEqual({ status: 409, code: 'LOCK_TIMEOUT' });
    expect(running).toHaveLength(2);
    exporting.resolve();
    for (const { status } of await Promise.all(all)) expect(status).toBe(200);
    expect(together).toHaveLength(2);
  });

  it('another number of permits is a mistake: 500', async () => {
    const exporting = new Deferred();
    const [here, there] = apps({ export: exporting.promise });
    const first = get(here!, '/export/1');
    await until(() => running.length === 1);
    const wrong = await get(there!, '/export-wrong/2');
    expect(wrong).toEqual({ status: 500, code: 'LOCK_PERMITS_DIFFER' });
    exporting.resolve();
    expect((await first).status).toBe(200);
  });
});

it.each([
  [{ mode: 'shared' }, "mode must be 'read' or 'write'"],
  [{ permits: 0 }, 'permits must be'],
  [{ mode: 'read', permits: 2 }, 'either a mode or permits'],
])('lockRequest refuses %j at its definition', (options, message) => {
  const locks = new LockService(new MemoryLockStore());
  expect(() => lockRequest('a', { locks, ...(options as object) })).toThrow(message);
});
