import { AsyncLocalStorage } from 'node:async_hooks';
import { Injectable } from '@nestjs/common';
import { DistributedLock, LockService } from 'nest-holdfast';
import { concatMap, finalize, lastValueFrom, Observable, share, Subject, toArray } from 'rxjs';
import { until } from '../../support/until.js';
import { ControlledStore } from '../support/controlled-store.js';
import { startServices, type TestApp } from '../support/test-app.js';

const request = new AsyncLocalStorage<string>();

@Injectable()
class Feed {
  readonly seen: unknown[] = [];
  source = new Subject<number>();

  constructor(readonly locks: LockService) {}

  @DistributedLock('feed:<id>')
  rows(id: string): Observable<number> {
    const note = (what: string) => void this.seen.push([what, id, this.locks.current()?.key]);
    return new Observable<number>((subscriber) => {
      note('subscribe');
      const inner = this.source.subscribe(subscriber);
      return () => {
        note('teardown');
        inner.unsubscribe();
      };
    }).pipe(finalize(() => note('finalize')));
  }

  @DistributedLock('feed:<id>')
  atOnce(id: string): Observable<string> {
    return new Observable((subscriber) => {
      subscriber.next(`${id} under ${this.locks.current()?.key}`);
      subscriber.complete();
    });
  }
}

describe('the subscriber of a locked Observable', () => {
  let app: TestApp;
  let feed: Feed;

  beforeEach(async () => {
    app = await startServices([Feed]);
    feed = app.get(Feed);
  });
  afterEach(() => app[Symbol.asyncDispose]());

  /** The notifications of a subscriber, and their contexts. */
  function listen(name: string, rows: Observable<unknown>) {
    const heard: unknown[] = [];
    const note = (what: unknown) =>
      void heard.push([what, request.getStore(), app.locks.current()?.key]);
    const subscription = request.run(name, () =>
      rows.subscribe({
        next: note,
        error: (error: { code?: string }) => note(error.code ?? error),
        complete: () => note('complete'),
      }),
    );
    return { heard, subscription };
  }

  it('hears of values and of the end in its own context', async () => {
    const { heard } = listen(
      'B',
      request.run('A', () => feed.rows('1')),
    );
    await until(() => feed.source.observed);
    request.run('C', () => feed.source.next(1));
    request.run('C', () => feed.source.complete());
    await until(() => heard.length === 2);
    expect(heard).toEqual([
      [1, 'B', undefined],
      ['complete', 'B', undefined],
    ]);
  });

  it('hears of an error in its own context', async () => {
    const { heard } = listen('B', feed.rows('1'));
    await until(() => feed.source.observed);
    request.run('C', () => feed.source.error('broken'));
    await until(() => heard.length === 1);
    expect(heard).toEqual([['broken', 'B', undefined]]);
  });

  it('hears of what comes at once in its own context, while the source holds the lock', async () => {
    const { heard } = listen('B', feed.atOnce('1'));
    await until(() => heard.length === 2);
    expect(heard).toEqual([
      ['1 under feed:1', 'B', undefined],
      ['complete', 'B', undefined],
    ]);
  });

  it('hears of a loss in its own context', async () => {
    const store = new ControlledStore();
    await using controlled = await startServices([Feed], { store });
    const lossy = controlled.get(Feed);
    const { heard } = listen('B', lossy.rows('1'));
    await until(() => lossy.source.observed);
    request.run('C', () => store.endSession());
    expect(heard).toEqual([['LOCK_LOST', 'B', undefined]]);
  });

  it('holds its own lock still, if it has one', async () => {
    const keys = await app.locks.withLock('mine', () =>
      lastValueFrom(
        feed.atOnce('1').pipe(
          concatMap(async () => app.locks.current()?.key),
          toArray(),
        ),
      ),
    );
    expect(keys).toEqual(['mine']);
  });

  it('does not own the lock, also behind share()', async () => {
    const hot = feed.rows('1').pipe(share());
    const first = listen('A', hot);
    await until(() => feed.source.observed);
    const codes: string[] = [];
    const options = { waitTimeout: 0, reentrant: true };
    request.run('B', () =>
      hot.subscribe(() => {
        const attempt = app.locks.withLock('feed:1', options, () => codes.push('inside'));
        attempt.catch(({ code }) => codes.push(code));
      }),
    );
    feed.source.next(1);
    feed.source.next(2);
    await until(() => codes.length === 2);
    expect(codes).toEqual(['LOCK_TIMEOUT', 'LOCK_TIMEOUT']);
    expect(first.heard).toEqual([
      [1, 'A', undefined],
      [2, 'A', undefined],
    ]);
    feed.source.complete();
  });

  it('ends the source under its lock, which is free afterwards', async () => {
    const { subscription } = listen('B', feed.rows('1'));
    await until(() => feed.source.observed);
    request.run('C', () => subscription.unsubscribe());
    expect(feed.seen).toEqual([
      ['subscribe', '1', 'feed:1'],
      ['teardown', '1', 'feed:1'],
      ['finalize', '1', 'feed:1'],
    ]);
    await until(() => app.locks.tryAcquire('feed:1'));
  });
});
