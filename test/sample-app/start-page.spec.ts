import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ExecutionContextHost } from '@nestjs/core/helpers/execution-context-host.js';
import request from 'supertest';
import { ORDERS, UNITS } from '../../sample-app/start/race.js';
import type { RaceState } from '../../sample-app/start/race.js';
import { LocalGuard } from '../../sample-app/start/local.guard.js';
import { Stock } from '../../sample-app/stock/stock.js';
import { until } from '../support/until.js';
import { SampleApp } from './start-sample-app.js';

describe('the start page of the sample app', () => {
  let app: SampleApp;
  beforeAll(async () => (app = await SampleApp.start()));
  afterAll(() => app[Symbol.asyncDispose]());

  const http = () => request(app.nest.getHttpServer());
  const races = async () => (await http().get('/races').expect(200)).body;

  async function endOf(way: string): Promise<RaceState> {
    return until(async () => {
      const race = (await races())[way];
      return race && !race.isRunning && race;
    });
  }

  it('is HTML whose policy allows only its own files', async () => {
    const { text, headers } = await http()
      .get('/')
      .expect(200)
      .expect('content-type', 'text/html; charset=utf-8');
    expect(headers['content-security-policy']).toMatch(/^default-src 'none'; script-src 'self'/);
    expect(text).not.toMatch(/<style|\bstyle=|\bon\w+=|<script(?![^>]*\bsrc=)/);
    expect([...text.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, url]) => url)).toEqual([
      'data:,',
      'start.css',
      'start.js',
      'locks',
    ]);
  });

  it.each([
    ['start.css', 'text/css'],
    ['start.js', 'text/javascript'],
  ])('has %s', async (file, type) => {
    const { text } = await http()
      .get(`/${file}`)
      .expect(200)
      .expect('content-type', `${type}; charset=utf-8`);
    const page = join(__dirname, '..', '..', 'sample-app', 'start', 'page');
    expect(text).toBe(readFileSync(join(page, file), 'utf8'));
    expect(readdirSync(page)).toHaveLength(3);
  });

  it('sells what there is with the lock, and shows how far it is', async () => {
    expect(await races()).toEqual({});
    const { body } = await http().post('/races/locked').expect(202);
    expect(body).toMatchObject({ isRunning: true, units: UNITS, orders: ORDERS });
    const again = await http().post('/races/locked').expect(202);
    expect(again.body.isRunning).toBe(true);
    await until(async () => (await races()).locked.sold > 0);
    const [soldOut, failed, left] = [ORDERS - UNITS, 0, 0];
    const counts = { sold: UNITS, soldOut, failed, left };
    expect(await endOf('locked')).toMatchObject({ isRunning: false, ...counts });
  }, 120_000);

  it('sells more than there is without it', async () => {
    await http().post('/races/unlocked').expect(202);
    const { sold, soldOut, failed } = await endOf('unlocked');
    expect(sold).toBeGreaterThan(UNITS);
    expect(sold + soldOut + failed).toBe(ORDERS);
  });

  it('counts what fails, and goes on', async () => {
    const broken = jest.spyOn(app.nest.get(Stock), 'sell').mockRejectedValue(new Error('disk'));
    await http().post('/races/unlocked').expect(202);
    expect(await endOf('unlocked')).toMatchObject({ sold: 0, failed: ORDERS, left: UNITS });
    broken.mockRestore();
  });

  it('has the live page of the locks beside it, which shows a race', async () => {
    await http()
      .get('/locks')
      .expect(200)
      .expect('content-type', /^text\/html/);
    await http().post('/races/locked').expect(202);
    const snapshot = await until(async () => {
      const { body } = await http().get('/locks/api/snapshot').expect(200);
      return body.locks.length > 0 && body;
    });
    expect(snapshot.locks[0]).toMatchObject({ name: 'stock:<sku>', isLocal: true });
    expect(snapshot.actions).toEqual([]);
    await endOf('locked');
  }, 120_000);

  it('lets no other client see the locks', () => {
    const guard = new LocalGuard();
    const isLetIn = (remoteAddress: string | undefined) =>
      guard.canActivate(new ExecutionContextHost([{ socket: { remoteAddress } }]));
    expect(['127.0.0.1', '::1', '::ffff:127.0.0.1'].map(isLetIn)).toEqual([true, true, true]);
    expect(['10.0.0.7', '1270.0.0.1', undefined].map(isLetIn)).toEqual([false, false, false]);
  });

  it('refuses another way', async () => {
    await http().post('/races/sideways').expect(400);
  });
});
