import { get } from 'node:http';
import type { IncomingMessage } from 'node:http';
import { Controller, Get, Injectable, Param, Sse } from '@nestjs/common';
import { DistributedLock, LockService } from 'nest-holdfast';
import { map, Observable, of, Subject, throwError } from 'rxjs';
import { until } from '../../../support/until.js';
import { ADAPTERS, startApp, type TestApp } from '../../support/test-app.js';

@Injectable()
class Feed {
  source = new Subject<{ data: object }>();
}

@Controller()
class Handlers {
  constructor(
    readonly feed: Feed,
    readonly locks: LockService,
  ) {}

  @Sse('events/:id')
  @DistributedLock('events:<id>')
  events(@Param('id') id: string): Observable<{ data: object }> {
    return this.feed.source.pipe(map(({ data }) => ({ data: { ...data, id } })));
  }

  @Sse('promised-events')
  @DistributedLock('events:promised')
  async promisedEvents() {
    return this.feed.source;
  }

  @Sse('before-events')
  @DistributedLock('events:before', { before: 'pipes' })
  async beforeEvents(): Promise<Observable<{ data: object }>> {
    return this.feed.source;
  }

  @Get('value')
  @DistributedLock('value', { reentrant: true })
  value(): Observable<object> {
    return new Observable((subscriber) => {
      subscriber.next({ key: this.locks.current()?.key });
      subscriber.complete();
    });
  }

  @Get('promised-value')
  @DistributedLock('value')
  async promisedValue() {
    return this.value();
  }

  @Get('fails')
  @DistributedLock('fails', { reentrant: true })
  fails(): Observable<never> {
    return throwError(() => new RangeError('broken'));
  }

  @Get('promised-failure')
  @DistributedLock('fails')
  async promisedFailure() {
    return throwError(() => new RangeError('broken'));
  }

  @Get('unannotated')
  @DistributedLock('value')
  unannotated() {
    return of({ key: 'value' });
  }
}

describe.each(ADAPTERS)('handlers that answer with a stream, on %s', (adapter) => {
  let app: TestApp;
  let feed: Feed;

  beforeAll(async () => {
    app = await startApp({ adapter, controllers: [Handlers], providers: [Feed] });
    feed = app.get(Feed);
  });
  afterAll(() => app[Symbol.asyncDispose]());
  beforeEach(() => {
    app.takeLog();
    feed.source = new Subject();
  });

  const open = async (path: string) => {
    const url = `${await app.app.getUrl()}/${path}`;
    const chunks: string[] = [];
    const request = get(url, (response: IncomingMessage) => {
      response.on('data', (chunk: Buffer) => chunks.push(String(chunk)));
    });
    request.on('error', () => {}); // of the abort
    await until(() => feed.source.observed);
    return { request, text: () => chunks.join('') };
  };

  it.each([
    ['events/7', 'events:7'],
    ['promised-events', 'events:promised'],
    ['before-events', 'events:before'],
  ])('server-sent events hold the lock until they complete: %s', async (path, key) => {
    const { text } = await open(path);
    feed.source.next({ data: { n: 1 } });
    await until(() => text().includes('data: {"n":1'));
    expect(app.log).toEqual([`+${key}`]);
    feed.source.complete();
    await until(() => app.isFree(key));
    expect(app.log).toEqual([`+${key}`, `-${key}`]);
  });

  it.each([
    ['events/7', 'events:7'],
    ['promised-events', 'events:promised'],
    ['before-events', 'events:before'],
  ])('server-sent events release when the client goes away: %s', async (path, key) => {
    const { request } = await open(path);
    request.destroy();
    await until(() => app.isFree(key));
    expect(feed.source.observed).toBe(false);
    expect(app.log).toEqual([`+${key}`, `-${key}`]);
  });

  it.each(['value', 'promised-value', 'unannotated'])(
    'an Observable is one answer: %s',
    async (path) => {
      await app.http.get(`/${path}`).expect(200, { key: 'value' });
      expect(app.log).toEqual(['+value', '-value']);
    },
  );

  it.each(['fails', 'promised-failure'])(
    'an Observable that fails is an error: %s',
    async (path) => {
      await app.http.get(`/${path}`).expect(500);
      expect(app.log).toEqual(['+fails', '-fails']);
    },
  );
});
