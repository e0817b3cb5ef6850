import { type CallHandler, Controller, Get, Param, UseInterceptors } from '@nestjs/common';
import { MessagePattern } from '@nestjs/microservices';
import { SubscribeMessage } from '@nestjs/websockets';
import { CurrentLock, DistributedLock, type Lock, Semaphore } from 'nest-holdfast';
import { map, timeout } from 'rxjs';
import { until } from '../../../support/until.js';
import { openTransport, type TransportApp } from '../support/transport-app.js';
import { Deferred } from '../../support/deferred.js';
import { NEST_MAJOR } from '../../support/nest-version.js';
import { refusal, Untyped } from '../../support/refusal.js';
import { Rows } from '../../support/streaming.js';
import { ADAPTERS } from '../../support/test-app.js';

const AT_ONCE = { waitTimeout: 0 };

class Replacing {
  intercept = (_: unknown, next: CallHandler) => next.handle().pipe(map(() => 'another answer'));
}

class Impatient {
  intercept = (_: unknown, next: CallHandler) => next.handle().pipe(timeout({ each: 50 }));
}

@Controller()
class Handlers {
  work = new Deferred();
  holds: (boolean | undefined)[] = [];

  constructor(readonly rows: Rows) {}

  @Get('promise/:id')
  @DistributedLock('order:<request.params.id>', AT_ONCE)
  async promise(@Param('id') id: string) {
    return id;
  }

  @Get('generator/:id')
  @DistributedLock('order:<request.params.id>', AT_ONCE)
  async *generator(@Param('id') id: string, @CurrentLock() lock?: Lock) {
    this.holds.push(lock?.isHeld);
    yield `${id}:${lock?.key}`;
  }

  @Get('before/:id')
  @DistributedLock('order:<request.params.id>', { ...AT_ONCE, before: 'pipes' })
  async *before(@Param('id') id: string, @CurrentLock() lock?: Lock) {
    this.holds.push(lock?.isHeld);
    yield `${id}:${lock?.key}`;
  }

  @Get('semaphore/:id')
  @Semaphore('order:<id>', { ...AT_ONCE, permits: 1 })
  async *semaphore(@Param('id') id: string, @CurrentLock() lock?: Lock) {
    this.holds.push(lock?.isHeld);
    yield `${id}:${lock?.key}`;
  }

  @Get('skip/:id')
  @DistributedLock('order:<id>', { ...AT_ONCE, onTimeout: 'skip' })
  async *skip(@Param('id') id: string) {
    yield id;
  }

  @Get('instead/:id')
  @DistributedLock('order:<id>', { ...AT_ONCE, onTimeout: (_, id: string) => ({ busy: id }) })
  async *instead(@Param('id') id: string) {
    yield id;
  }

  @Get('replaced')
  @UseInterceptors(Replacing)
  @DistributedLock('export')
  async *replaced() {
    yield* this.rows.read();
  }

  @Get('impatient')
  @UseInterceptors(Impatient)
  @DistributedLock('export')
  async impatient() {
    await this.work.promise;
    return this.rows.read();
  }

  @Get('impatient-before')
  @UseInterceptors(Impatient)
  @DistributedLock('export', { before: 'pipes' })
  async impatientBefore() {
    await this.work.promise;
    return this.rows.read();
  }
}

const streams = NEST_MAJOR >= 12;

describe.each(ADAPTERS)('a locked handler that yields, on %s,', (adapter) => {
  let app: TransportApp;
  let handlers: Handlers;

  beforeAll(async () => {
    app = await openTransport({ adapter, controllers: [Handlers], providers: [Rows] });
    handlers = app.get(Handlers);
  });
  afterAll(() => app[Symbol.asyncDispose]());
  beforeEach(() => {
    handlers.rows.reset();
    handlers.work = new Deferred();
    handlers.holds = [];
    app.takeLog();
  });
  afterEach(async () => {
    handlers.rows.flow();
    handlers.work.resolve();
    app.control.free();
    await until(() => app.isFree('export'));
  });

  describe.each(['generator', 'before', 'semaphore'])('%s', (path) => {
    it('answers as one that returns a promise when its key is held', async () => {
      app.control.hold('order:7');
      const promised = await app.http.get('/promise/7').expect(409);
      const { body, headers } = await app.http.get(`/${path}/7`).expect(409);
      expect(body).toMatchObject({ code: 'LOCK_TIMEOUT', message: expect.any(String) });
      expect(Object.keys(body)).toEqual(Object.keys(promised.body));
      expect(headers['retry-after']).toMatch(/^[12]$/);
      expect(handlers.holds).toEqual([]);
    });

    it('answers as one that returns a promise when the store is down', async () => {
      app.control.failing('order:7');
      await app.http.get('/promise/7').expect(503);
      await app.http.get(`/${path}/7`).expect(503);
    });

    it('has its request, and its lock', async () => {
      const { text } = await app.http.get(`/${path}/7`).expect(200);
      await until(() => app.log.length === 2);
      expect(app.log).toEqual(['+order:7', '-order:7']);
      if (!streams) return; // it is not begun, and the answer is `{}`
      expect(text).toBe('7:order:7');
      expect(handlers.holds).toEqual([true]);
    });
  });

  it('may be skipped, or replaced, when its key is held', async () => {
    app.control.hold('order:7');
    const { text } = await app.http.get('/skip/7').expect(200);
    expect(text).toBe('');
    await app.http.get('/instead/7').expect(200, { busy: '7' });
  });

  it('frees its lock when an interceptor sends something else', async () => {
    handlers.rows.flow();
    const { text } = await app.http.get('/replaced').expect(200);
    expect(text).toBe('another answer');
    await until(() => app.isFree('export'));
  });

  it.each(['impatient', 'impatient-before'])(
    'holds its lock until its work is done, also when no client waits for that any more: %s',
    async (path) => {
      await app.http.get(`/${path}`).expect(500);
      expect(await app.isFree('export')).toBe(false);
      handlers.work.resolve();
      await until(() => app.isFree('export'));
      expect(handlers.rows.inside).toBe(0);
    },
  );
});

it.each([
  ['@MessagePattern', MessagePattern('rows')],
  ['@SubscribeMessage', SubscribeMessage('rows')],
])(
  '%s, which does not iterate, is refused for a generator when the class is defined',
  (_, handles) => {
    const { message } = refusal(() => {
      class Generator {
        @Untyped('rows')
        @handles
        async *rows() {}
      }
      return Generator;
    });
    expect(message).toMatch(
      /Generator\.rows: Nest does not send what a handler of messages yields/,
    );
  },
);
