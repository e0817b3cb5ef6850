import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import request from 'supertest';
import { StockReport } from '../../sample-app/stock/stock-report.js';
import { Stock } from '../../sample-app/stock/stock.js';
import { RedisServer } from '../support/servers/redis-server.js';
import { SampleApp } from './start-sample-app.js';

const ALL_BUT_DATE = [
  'hrtime',
  'nextTick',
  'performance',
  'queueMicrotask',
  'setImmediate',
  'clearImmediate',
  'setInterval',
  'clearInterval',
  'setTimeout',
  'clearTimeout',
] as const;

describe.each(['one Redis', 'one file of SQLite'])('several sample apps on %s', (where) => {
  let redis: RedisServer | undefined;
  let directory: string;
  let apps: SampleApp[];

  beforeAll(async () => {
    redis = where === 'one Redis' ? await RedisServer.shared() : undefined;
    directory = await mkdtemp(join(tmpdir(), 'holdfast-fleet-'));
    const store = redis ? { redisUrl: redis.url } : { sqliteFile: join(directory, 'locks.db') };
    const options = { stockDirectory: join(directory, 'stock'), ...store };
    apps = [await SampleApp.start(options), await SampleApp.start(options)];
  });

  afterAll(async () => {
    await Promise.all(apps.map((app) => app[Symbol.asyncDispose]()));
    await rm(directory, { recursive: true, force: true });
    await redis?.stop();
  });

  it('sell together what there is, and no more', async () => {
    const http = apps.map(({ nest }) => request(nest.getHttpServer()));
    await http[0]!.put('/stock/lamp').send({ units: 10 }).expect(200);
    const orders = Array.from({ length: 30 }, (_, i) => http[i % 2]!.post('/orders/lamp'));
    const answers = await Promise.all(orders);
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(10);
    await http[1]!.get('/stock/lamp').expect(200, { sku: 'lamp', units: 0 });
  });

  it('count the stock once per tick, whichever of them does', async () => {
    const counts = apps.map(({ nest }) => jest.spyOn(nest.get(Stock), 'levels'));
    const reports = apps.map(({ nest }) => nest.get(StockReport));
    for (const second of [3, 13]) {
      jest.useFakeTimers({ now: Date.UTC(2026, 0, 1, 0, 0, second), doNotFake: [...ALL_BUT_DATE] });
      await Promise.all(reports.map((each) => each.report()));
      await reports[0]!.report();
    }
    jest.useRealTimers();
    expect(counts[0]!.mock.calls.length + counts[1]!.mock.calls.length).toBe(2);
  });
});
