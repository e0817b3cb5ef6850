import { Controller, Get, Param } from '@nestjs/common';
import { DistributedLock } from 'nest-holdfast';
import type { Observable } from 'rxjs';
import { until } from '../../../support/until.js';
import { openTransport, type TransportApp } from '../support/transport-app.js';
import { Deferred } from '../../support/deferred.js';
import { HttpClient } from '../../support/http-client.js';
import { NEST_MAJOR } from '../../support/nest-version.js';
import { BODIES, Rows, type BodyName } from '../../support/streaming.js';
import { ADAPTERS, type AdapterName } from '../../support/test-app.js';

const PATIENT = { waitTimeout: Infinity };
const EARLY = { ...PATIENT, before: 'pipes' } as const;

@Controller()
class Exports {
  constructor(readonly rows: Rows) {}

  @Get('promised/:body')
  @DistributedLock('export', PATIENT)
  async promised(@Param('body') body: BodyName): Promise<unknown> {
    return BODIES[body](this.rows);
  }

  @Get('returned/:body')
  @DistributedLock('export', PATIENT)
  returned(@Param('body') body: BodyName) {
    return BODIES[body](this.rows) as never as Promise<unknown>;
  }

  @Get('before/:body')
  @DistributedLock('export', EARLY)
  async before(@Param('body') body: BodyName): Promise<unknown> {
    return BODIES[body](this.rows);
  }

  @Get('generator/iterable')
  @DistributedLock('export', PATIENT)
  async *generator() {
    yield* this.rows.read();
  }

  @Get('generator-before/iterable')
  @DistributedLock('export', EARLY)
  async *generatorBefore() {
    yield* this.rows.read();
  }

  @Get('told/iterable')
  @DistributedLock('export', { ...PATIENT, returns: 'iterable' })
  told(): AsyncIterable<string> {
    return this.rows.read();
  }

  @Get('observable/observable-file')
  @DistributedLock('export', PATIENT)
  observable(): Observable<unknown> {
    return BODIES['observable-file'](this.rows);
  }

  @Get('observable-before/observable-file')
  @DistributedLock('export', EARLY)
  observableBefore(): Observable<unknown> {
    return BODIES['observable-file'](this.rows);
  }
}

const PATHS = [
  ...['promised', 'returned', 'before'].flatMap((way) =>
    Object.keys(BODIES).map((body) => `${way}/${body}`),
  ),
  'generator/iterable',
  'generator-before/iterable',
  'told/iterable',
  'observable/observable-file',
  'observable-before/observable-file',
];

/** Whether Nest sends it: older ones answer with `{}` for what they do not know. */
function isSent(adapter: AdapterName, path: string): boolean {
  const body = path.slice(path.indexOf('/') + 1) as BodyName;
  if (NEST_MAJOR >= 12 || body.includes('file')) return true;
  return adapter === 'fastify' && (body === 'readable' || body === 'web' || body === 'response');
}

describe.each(ADAPTERS)('what a locked handler streams, on %s:', (adapter) => {
  let app: TransportApp;
  let rows: Rows;

  beforeAll(async () => {
    app = await openTransport({ adapter, controllers: [Exports], providers: [Rows] });
    rows = app.get(Rows);
  });
  afterAll(() => app[Symbol.asyncDispose]());
  beforeEach(() => rows.reset());
  afterEach(async () => {
    rows.flow();
    app.control.free();
    await until(() => app.isFree('export'));
    expect(rows.inside).toBe(0);
  });

  const sent = PATHS.filter((path) => isSent(adapter, path));
  const unsent = PATHS.filter((path) => !isSent(adapter, path));

  describe.each(sent)('%s', (path) => {
    it('is sent by one at a time', async () => {
      rows.flow();
      const clients = await Promise.all([1, 2, 3].map(() => HttpClient.get(app, path)));
      await until(() => clients.every(({ end }) => end));
      expect(clients.map(({ end, text }) => [end, text])).toEqual(
        clients.map(() => ['complete', 'first\nsecond\n']),
      );
      expect([rows.begun, rows.most]).toEqual([3, 1]);
    });

    it('holds the lock until it has been sent, and cleaned up', async () => {
      const client = await HttpClient.get(app, path);
      await until(() => client.text === 'first\n');
      expect(await app.isFree('export')).toBe(false);
      rows.second.resolve();
      await until(() => rows.isClosing);
      expect(await app.isFree('export')).toBe(false);
      rows.cleanUp.resolve();
      await until(() => app.isFree('export'));
      await until(() => client.end);
      expect(client.text).toBe('first\nsecond\n');
    });

    it('holds it after the client has left, until it has been cleaned up', async () => {
      const client = await HttpClient.get(app, path);
      await until(() => client.text === 'first\n');
      client.leave();
      rows.second.resolve(); // a generator ends between two steps
      await until(() => rows.isClosing);
      expect(await app.isFree('export')).toBe(false);
      rows.cleanUp.resolve();
      await until(() => app.isFree('export'));
    });

    it('ends when the lock is lost, and does not look complete', async () => {
      const client = await HttpClient.get(app, path);
      await until(() => client.text === 'first\n');
      app.control.lose('export');
      rows.flow();
      await until(() => client.end);
      expect(client.end).toBe('cut');
      await until(() => rows.inside === 0);
    });

    it('is no success when the lock is lost before it begins', async () => {
      rows.first = new Deferred();
      const client = await HttpClient.get(app, path);
      await until(() => rows.begun === 1);
      app.control.lose('export');
      rows.first.resolve();
      rows.flow();
      await until(() => client.end);
      if (client.status === undefined) expect(client.end).toBe('cut');
      else expect(client.status).toBe(500);
    });

    it('frees the lock when it fails', async () => {
      const client = await HttpClient.get(app, path);
      await until(() => client.text === 'first\n');
      rows.second.reject(new Error('broken'));
      rows.cleanUp.resolve();
      await until(() => client.end);
      await until(() => app.isFree('export'));
    });

    it('is not begun, or stopped, for a request of its headers only', async () => {
      rows.flow();
      const client = await HttpClient.head(app, path);
      await until(() => client.end);
      await until(() => app.isFree('export'));
      expect(rows.inside).toBe(0);
    });

    it('runs nothing for a client that left while it waited', async () => {
      const elsewhere = app.control.hold('export');
      const client = await HttpClient.get(app, path);
      await app.control.untilWaiting('export');
      client.leave();
      await until(() => app.control.waiters() === 0);
      elsewhere.release();
      expect(rows.begun).toBe(0);
    });
  });

  const anyUnsent = unsent.length > 0 ? describe.each(unsent) : () => {};
  anyUnsent('%s, which it does not send,', (path: string) => {
    it('frees the lock with the answer', async () => {
      rows.flow();
      const client = await HttpClient.get(app, path);
      await until(() => client.end);
      await until(() => app.isFree('export'));
    });
  });
});
