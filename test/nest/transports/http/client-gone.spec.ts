import { get, type Server } from 'node:http';
import { promisify } from 'node:util';
import { type CallHandler, Controller, Get, Param } from '@nestjs/common';
import { APP_INTERCEPTOR } from '@nestjs/core';
import { DistributedLock, type Lock } from 'nest-holdfast';
import { of, timeout, type Observable } from 'rxjs';
import { until } from '../../../support/until.js';
import { ControlledStore } from '../../support/controlled-store.js';
import { Deferred } from '../../support/deferred.js';
import { ADAPTERS, startApp, type TestApp } from '../../support/test-app.js';

const OWN = new AbortController();
const PATIENT = { waitTimeout: Infinity };

@Controller()
class Handlers {
  ran: string[] = [];

  @Get('promise/:id')
  @DistributedLock('order:<id>', PATIENT)
  async promise(@Param('id') id: string) {
    this.ran.push(id);
  }

  @Get('stream/:id')
  @DistributedLock('order:<id>', PATIENT)
  stream(@Param('id') id: string): Observable<number> {
    return of(this.ran.push(id));
  }

  @Get('before/:id')
  @DistributedLock('order:<request.params.id>', { ...PATIENT, before: 'pipes' })
  async before(@Param('id') id: string) {
    this.ran.push(id);
  }

  @Get('own-signal/:id')
  @DistributedLock('order:<id>', { ...PATIENT, signal: OWN.signal })
  async ownSignal(@Param('id') id: string) {
    this.ran.push(id);
  }
}

describe.each(ADAPTERS)('a client that goes away while its request waits, on %s', (adapter) => {
  let app: TestApp;
  let store: ControlledStore;
  let held: Lock;

  beforeEach(async () => {
    store = new ControlledStore();
    app = await startApp({ adapter, controllers: [Handlers], lockOptions: { store } });
    held = await app.elsewhere.acquire('order:7');
  });
  afterEach(() => app[Symbol.asyncDispose]());

  const request = async (path: string) => {
    const waiting = get(`${await app.app.getUrl()}/${path}/7`);
    waiting.on('error', () => {}); // of the abort
    await until(() => store.waiters === 1);
    return waiting;
  };
  const clientsAre = (count: number) =>
    until(async () => {
      const server = app.app.getHttpServer() as Server;
      return (await promisify(server.getConnections.bind(server))()) === count;
    });
  it.each(['promise', 'stream', 'before', 'own-signal'])('ends the wait: %s', async (path) => {
    const waiting = await request(path);
    waiting.destroy();
    await until(() => store.waiters === 0);
    await held.release();
    expect(app.log).toEqual([]);
    expect(app.get(Handlers).ran).toEqual([]);
  });

  it('leaves nothing behind when the lock is granted at that very moment', async () => {
    const answer = new Deferred();
    await held.release();
    store.answer = answer.promise;
    const waiting = get(`${await app.app.getUrl()}/promise/7`);
    waiting.on('error', () => {}); // of the abort
    await until(async () => !(await app.isFree('order:7')));
    waiting.destroy();
    await clientsAre(0);
    answer.resolve();
    await until(() => app.isFree('order:7'));
  });

  it('does not disturb the others', async () => {
    const leaving = await request('promise');
    const staying = app.http.get('/promise/7').expect(200);
    const answered = staying.then(() => 'answered');
    await clientsAre(2);
    leaving.destroy();
    await clientsAre(1);
    await held.release();
    expect(await answered).toBe('answered');
    expect(app.get(Handlers).ran).toEqual(['7']);
  });
});

it('an application that gives up on a handler ends its wait', async () => {
  const store = new ControlledStore();
  const impatient = {
    intercept: (_: unknown, next: CallHandler) => next.handle().pipe(timeout({ each: 50 })),
  };
  await using app = await startApp({
    controllers: [Handlers],
    lockOptions: { store },
    providers: [{ provide: APP_INTERCEPTOR, useValue: impatient }],
  });
  const held = await app.elsewhere.acquire('order:7');
  for (const path of ['promise', 'stream', 'before']) {
    await app.http.get(`/${path}/7`).expect(500);
    await until(() => store.waiters === 0);
  }
  await held.release();
  expect(app.get(Handlers).ran).toEqual([]);
});

it('a signal of the decorator’s own ends the wait of a handler too', async () => {
  await using app = await startApp({ controllers: [Handlers] });
  await app.elsewhere.withLock('order:7', async () => {
    const answer = app.http.get('/own-signal/7').expect(500);
    const answered = answer.then(() => 'answered');
    OWN.abort(new Error('closing time'));
    expect(await answered).toBe('answered');
  });
});
