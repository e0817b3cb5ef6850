import { Injectable } from '@nestjs/common';
import { DistributedLock, LockService } from 'nest-holdfast';
import { lastValueFrom, Observable, of, Subject, throwError } from 'rxjs';
import { until } from '../../support/until.js';
import { ControlledStore } from '../support/controlled-store.js';
import { Deferred } from '../support/deferred.js';
import { startServices, type TestApp } from '../support/test-app.js';

@Injectable()
class Feed {
  source = new Subject<number>();
  subscriptions = 0;

  constructor(readonly locks: LockService) {}

  @DistributedLock('feed:<id>')
  watch(id: string): Observable<string> {
    return new Observable((subscriber) => {
      this.subscriptions++;
      subscriber.next(String(this.locks.current()?.key));
      return this.source.subscribe({
        next: (value) => subscriber.next(`${id}${value}`),
        error: (error: unknown) => subscriber.error(error),
        complete: () => subscriber.complete(),
      });
    });
  }

  @DistributedLock('feed:<id>')
  fails(id: string, error: Error): Observable<string> {
    return id === 'at once' ? throwError(() => error) : this.#throw(error);
  }

  @DistributedLock('subject')
  subject(): Subject<number> {
    return this.source;
  }

  @DistributedLock('unannotated', { returns: 'observable' })
  told() {
    return of(this.locks.current()?.key);
  }

  @DistributedLock('unannotated')
  untold() {
    return of(1);
  }

  @DistributedLock('promised')
  async promised() {
    return of(1);
  }

  #throw(error: Error): never {
    throw error;
  }
}

describe('@DistributedLock on a method that returns an Observable', () => {
  const store = new ControlledStore();
  let app: TestApp;
  let feed: Feed;

  beforeAll(async () => {
    app = await startServices([Feed], { store });
    feed = app.get(Feed);
  });
  afterAll(() => app[Symbol.asyncDispose]());
  beforeEach(() => {
    app.takeLog();
    feed.subscriptions = 0;
    feed.source = new Subject();
  });

  const watch = () => {
    const values: string[] = [];
    const ended = new Deferred();
    const subscription = feed.watch('a').subscribe({
      next: (value) => values.push(value),
      complete: ended.resolve,
      error: ended.reject,
    });
    return { values, ended: ended.promise, subscription };
  };
  const subscribed = () => until(() => feed.subscriptions === 1);

  it('locks at subscription and holds until it completes', async () => {
    const { values, ended } = watch();
    await subscribed();
    feed.source.next(1);
    expect(app.log).toEqual(['+feed:a']);
    feed.source.complete();
    await ended;
    expect(values).toEqual(['feed:a', 'a1']);
    expect(app.log).toEqual(['+feed:a', '-feed:a']); // released before the subscriber hears of the end
  });

  it('locks nothing without a subscriber, and for each subscriber anew', async () => {
    const stream = feed.told();
    expect(app.log).toEqual([]);
    expect(await lastValueFrom(stream)).toBe('unannotated');
    expect(await lastValueFrom(stream)).toBe('unannotated');
    expect(app.log).toHaveLength(4);
  });

  it.each(['at once', 'when called'])('releases when it fails %s', async (when) => {
    const error = new Error('broken');
    await expect(lastValueFrom(feed.fails(when, error))).rejects.toBe(error);
    expect(await app.isFree(`feed:${encodeURIComponent(when)}`)).toBe(true);
    expect(app.log).toHaveLength(2);
  });

  it('releases when it is unsubscribed', async () => {
    const { subscription } = watch();
    await subscribed();
    subscription.unsubscribe();
    await until(() => app.log.length === 2);
    expect(feed.source.observed).toBe(false);
  });

  it('leaves nothing behind when it is unsubscribed while the lock is awaited', async () => {
    const answer = new Deferred();
    store.answer = answer.promise;
    const { subscription } = watch();
    subscription.unsubscribe();
    answer.resolve();
    await until(() => app.isFree('feed:a'));
    expect(app.log).toEqual([]);
    expect(feed.subscriptions).toBe(0);
  });

  it('leaves the line when it is unsubscribed', async () => {
    const held = await app.elsewhere.acquire('feed:a');
    const { subscription } = watch();
    await until(() => store.waiters === 1);
    subscription.unsubscribe();
    await until(() => store.waiters === 0);
    await held.release();
    expect(app.log).toEqual([]);
  });

  it('fails, and stops its source, when the lock is lost', async () => {
    const { ended } = watch();
    await subscribed();
    const loss = expect(ended).rejects.toMatchObject({ code: 'LOCK_LOST' });
    store.endSession();
    await loss;
    expect(feed.source.observed).toBe(false);
  });

  it('understands subclasses of Observable', async () => {
    const subscription = feed.subject().subscribe();
    await until(() => app.log.length === 1);
    subscription.unsubscribe();
    await until(() => app.log.length === 2);
  });

  it.each(['untold', 'promised'] as const)(
    'refuses one that comes as a surprise: %s',
    async (name) => {
      const result = (feed[name] as () => Promise<unknown>)();
      await expect(result).rejects.toThrow(/annotate its return type|returns: 'observable'/);
      expect(app.log).toHaveLength(2);
    },
  );
});
