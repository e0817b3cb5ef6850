import { Controller, Get, Param, Sse } from '@nestjs/common';
import { APP_INTERCEPTOR } from '@nestjs/core';
import {
  DistributedLock,
  DistributedLockInterceptor,
  LockService,
  type Lock,
  CurrentLock,
} from 'nest-holdfast';
import { of, type Observable } from 'rxjs';
import { ControlledStore } from '../../support/controlled-store.js';
import { ADAPTERS, startApp } from '../../support/test-app.js';

const AT_ONCE = { waitTimeout: 0 };
/** A driver's message, which may name hosts and accounts. */
const PRIVATE = 'connect ECONNREFUSED 10.1.2.3:6379 as admin';

@Controller()
class Handlers {
  constructor(readonly locks: LockService) {}

  @Get('orders/:id')
  @DistributedLock('order:<id>', AT_ONCE)
  async order(@Param('id') id: string) {
    return { id };
  }

  @Get('before/:id')
  @DistributedLock('order:<request.params.id>', { ...AT_ONCE, before: 'pipes' })
  async before(@Param('id') id: string) {
    return { id };
  }

  @Get('streams/:id')
  @DistributedLock('order:<id>', AT_ONCE)
  stream(@Param('id') id: string): Observable<object> {
    return of({ id });
  }

  @Get('query')
  @DistributedLock('order:<request.query.id>')
  async query() {}

  @Get('lost')
  @DistributedLock('order:lost')
  async lost(@CurrentLock() lock?: Lock) {
    await lock!.release(); // as good as any way of losing it behind the decorator's back
    lock!.assertHeld();
  }

  @Get('deadlock')
  @DistributedLock('order:deadlock')
  async deadlock() {
    await this.locks.acquire('order:deadlock');
  }

  @Sse('events')
  @DistributedLock('order:7', AT_ONCE)
  events(): Observable<{ data: string }> {
    return of({ data: 'ran' });
  }
}

describe.each(ADAPTERS)('lock errors over HTTP, on %s', (adapter) => {
  const parts = { adapter, controllers: [Handlers] };

  it.each(['orders/7', 'before/7', 'streams/7'])(
    'a held key is 409 with Retry-After: %s',
    async (path) => {
      await using app = await startApp(parts);
      await app.elsewhere.withLock('order:7', async () => {
        const { body } = await app.http
          .get(`/${path}`)
          .expect(409)
          .expect('retry-after', /^[12]$/);
        expect(body).toEqual({
          statusCode: 409,
          code: 'LOCK_TIMEOUT',
          message: 'The lock is held',
        });
      });
      await app.http.get(`/${path}`).expect(200, { id: '7' });
    },
  );

  it('a held key is what the module says', async () => {
    const lockOptions = { http: { busyStatus: 423, retryAfter: 30 } };
    await using app = await startApp({ ...parts, lockOptions });
    await app.elsewhere.withLock('order:7', async () => {
      const { body } = await app.http
        .get('/orders/7')
        .expect(423)
        .expect('retry-after', /^[3-6]\d$/);
      expect(body).toMatchObject({ statusCode: 423, code: 'LOCK_TIMEOUT' });
    });
  });

  it.each(['orders/7', 'before/7', 'streams/7'])(
    'a store that fails is 503, and keeps its words: %s',
    async (path) => {
      const store = new ControlledStore();
      await using app = await startApp({ ...parts, lockOptions: { store } });
      store.answer = Promise.reject(new Error(PRIVATE));
      store.answer.catch(() => {}); // attempts reject with it
      const response = await app.http
        .get(`/${path}`)
        .expect(503)
        .expect('retry-after', /^[12]$/);
      expect(response.body).toEqual({
        statusCode: 503,
        code: 'LOCK_STORE_FAILED',
        message: 'The lock store is not available',
      });
      expect(response.text).not.toContain('ECONNREFUSED');
      store.answer = Promise.resolve();
    },
  );

  it('a key that cannot be made is 400', async () => {
    await using app = await startApp(parts);
    const response = await app.http.get('/query').expect(400);
    expect(response.body).toEqual({
      statusCode: 400,
      code: 'LOCK_KEY_INVALID',
      message: 'The request gives no valid lock key',
    });
    expect(response.headers).not.toHaveProperty('retry-after');
  });

  it.each(['lost', 'deadlock'])(
    'what is our own fault is 500 and says no more: %s',
    async (path) => {
      await using app = await startApp(parts);
      const { body } = await app.http.get(`/${path}`).expect(500);
      expect(body).toEqual({ statusCode: 500, message: 'Internal server error' });
    },
  );

  it('work whose lock was lost is 500 although it went well', async () => {
    const store = new ControlledStore();
    @Controller()
    class Losing {
      @Get('losing')
      @DistributedLock('losing')
      async losing() {
        store.endSession();
        return 'looks fine';
      }
    }
    await using app = await startApp({ adapter, controllers: [Losing], lockOptions: { store } });
    await app.http.get('/losing').expect(500);
  });

  it('events tell that the key is held', async () => {
    await using app = await startApp(parts);
    await app.elsewhere.withLock('order:7', async () => {
      const { text } = await app.http.get('/events');
      expect(text).not.toMatch(/ran|order:7/);
      expect(text).toContain('The lock is held');
    });
    expect((await app.http.get('/events').expect(200)).text).toContain('data: ran');
  });

  it('the interceptor does no harm where a handler has a lock already', async () => {
    const provider = { provide: APP_INTERCEPTOR, useClass: DistributedLockInterceptor };
    await using app = await startApp({ ...parts, providers: [provider] });
    await app.http.get('/orders/7').expect(200, { id: '7' });
    await app.http.get('/before/7').expect(200, { id: '7' });
    expect(app.log).toEqual(['+order:7', '-order:7', '+order:7', '-order:7']);
    await app.elsewhere.withLock('order:7', async () => {
      await app.http
        .get('/orders/7')
        .expect(409)
        .expect('retry-after', /^[12]$/);
      await app.http.get('/before/7').expect(409);
    });
  });
});
