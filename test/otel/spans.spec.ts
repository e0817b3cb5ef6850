import { metrics, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api';
import { setImmediate } from 'node:timers/promises';
import { instrumentLocks } from 'nest-holdfast/otel';
import { rejectionOf } from '../core/support/outcome';
import { inMemory, onFakeStore } from '../core/support/setup';
import { Deferred } from '../nest/support/deferred';
import { disableTracing, enableContexts, tracingSdk } from './support/tracing-sdk';

const NAMED = { name: 'order:<id>' };
const LOCK = {
  'holdfast.lock.name': 'order:<id>',
  'holdfast.lock.mode': 'write',
  'holdfast.store.name': 'memory',
};
const UNSET = { code: SpanStatusCode.UNSET };
const FAILED = { code: SpanStatusCode.ERROR };

let sdk: ReturnType<typeof tracingSdk>;
beforeEach(() => {
  sdk = tracingSdk();
  enableContexts();
});
afterEach(() => {
  disableTracing();
  metrics.disable();
});

describe('spans', () => {
  it('are one for the call and one around the work, whose spans are its children', async () => {
    const { locks } = inMemory();
    const { tracerProvider, inSpan } = sdk;
    instrumentLocks(locks, { tracerProvider });
    const work = () => inSpan('work', () => setImmediate());
    await inSpan('request', () => locks.withLock('order:1', NAMED, work));
    expect(sdk.trees()).toEqual([
      ['request', ['acquire order:<id>'], ['hold order:<id>', ['work']]],
    ]);
    for (const name of ['acquire order:<id>', 'hold order:<id>']) {
      expect(sdk.span(name)).toMatchObject({ kind: SpanKind.INTERNAL, status: UNSET });
      expect(sdk.span(name)!.attributes).toEqual(LOCK);
    }
  });

  it('have no name of a lock that has none, and none around a lock without work', async () => {
    const { locks } = inMemory();
    instrumentLocks(locks, { tracerProvider: sdk.tracerProvider });
    await (await locks.acquire('a')).release();
    expect(sdk.trees()).toEqual([['acquire']]);
    await locks.withPermit('p', { permits: 2 }, () => {});
    expect(sdk.trees()).toEqual([['acquire'], ['acquire'], ['hold']]);
    expect(sdk.span('hold')!.attributes).toMatchObject({ 'holdfast.lock.mode': 'permits' });
  });

  it('are nested as the locks are; a call that shares a lock has none', async () => {
    const { locks } = inMemory();
    const { tracerProvider, inSpan } = sdk;
    instrumentLocks(locks, { tracerProvider });
    await locks.withLock('a', { name: 'outer' }, async () => {
      await locks.withLock('b', { name: 'inner' }, () => inSpan('in both', () => setImmediate()));
      await locks.withLock('a', { reentrant: true, name: 'shared' }, () =>
        inSpan('in one', () => setImmediate()),
      );
    });
    expect(sdk.trees()).toEqual([
      ['acquire outer'],
      ['hold outer', ['acquire inner'], ['hold inner', ['in both']], ['in one']],
    ]);
  });

  it('of a call that waits last until its grant, and belong to their own caller', async () => {
    const { locks, clock } = inMemory();
    const { tracerProvider, inSpan } = sdk;
    instrumentLocks(locks, { tracerProvider });
    const first = await inSpan('first', () => locks.acquire('a'));
    const second = inSpan('second', () => locks.withLock('a', () => inSpan('work', setImmediate)));
    await clock.advance(50);
    expect(sdk.trees()).toEqual([['first', ['acquire']]]);
    await inSpan('third', () => first.release()); // hands the lock over, in its own context
    await second;
    expect(sdk.trees()).toEqual([
      ['first', ['acquire']],
      ['second', ['acquire'], ['hold', ['work']]],
      ['third'],
    ]);
  });

  it('of several keys are one', async () => {
    const { locks } = inMemory();
    instrumentLocks(locks, { tracerProvider: sdk.tracerProvider, recordKeys: true });
    await locks.withLock(['b', 'a'], () => {});
    expect(sdk.trees()).toEqual([['acquire'], ['hold']]);
    expect(sdk.span('hold')!.attributes).toMatchObject({ 'holdfast.lock.keys': ['a', 'b'] });
  });

  it('of a refusal have its code, unless the call resolves without a lock', async () => {
    const { locks, others, clock } = inMemory();
    instrumentLocks(locks, { tracerProvider: sdk.tracerProvider });
    await others.acquire('order:1');
    await locks.tryAcquire('order:1', { name: 'try' });
    const late = rejectionOf(locks.acquire('order:1', { name: 'late', waitTimeout: 1_000 }));
    const abort = new AbortController();
    const { signal } = abort;
    const aborted = rejectionOf(locks.withLock('order:1', { name: 'aborted', signal }, () => {}));
    abort.abort();
    await clock.advance(1_000);
    await Promise.all([late, aborted]);
    const ends = ['try', 'late', 'aborted'].map((name) => {
      const { status, attributes } = sdk.span(`acquire ${name}`)!;
      return [status, attributes['error.type']];
    });
    expect(ends).toEqual([
      [UNSET, undefined],
      [FAILED, 'LOCK_TIMEOUT'],
      [FAILED, 'AbortError'],
    ]);
    expect(sdk.spans()).toHaveLength(3);
  });

  it('of a lock that is lost say so, after the jeopardy, and end before its work', async () => {
    const { locks, lease, clock } = onFakeStore({ ttl: 3_000 });
    const { tracerProvider, inSpan } = sdk;
    instrumentLocks(locks, { tracerProvider });
    lease.onExtend = () => Promise.reject(new Error('order:1 is down'));
    const work = new Deferred();
    const held = rejectionOf(
      locks.withLock('order:1', NAMED, () => inSpan('work', () => work.promise)),
    );
    await clock.advance(1_000);
    lease.onExtend = () => Promise.resolve(false);
    await clock.advance(1_000);
    const span = sdk.span('hold order:<id>')!;
    expect(span).toMatchObject({ status: FAILED, ended: true });
    expect(span.attributes['error.type']).toBe('gone');
    expect(span.events.map(({ name, attributes }) => [name, attributes])).toEqual([
      ['jeopardy', { 'error.type': 'LOCK_STORE_FAILED' }],
      ['lost', { 'error.type': 'gone' }],
    ]);
    expect(sdk.span('work')).toBeUndefined();
    work.resolve();
    await held;
    expect(sdk.trees()).toEqual([['acquire order:<id>'], ['hold order:<id>', ['work']]]);
  });

  it('of work that goes on after the release stay its children', async () => {
    const { locks } = inMemory();
    const { tracerProvider, inSpan } = sdk;
    instrumentLocks(locks, { tracerProvider });
    const work = new Deferred();
    let goesOn: Promise<unknown> | undefined;
    await locks.withLock('a', () => {
      goesOn = inSpan('work', () => work.promise).then(() => inSpan('later', () => setImmediate()));
    });
    expect(sdk.trees()).toEqual([['acquire'], ['hold']]);
    work.resolve();
    await goesOn;
    expect(sdk.trees()).toEqual([['acquire'], ['hold', ['work'], ['later']]]);
    expect(sdk.span('hold')!.status).toEqual(UNSET);
  });

  it('of work that fails are no errors: the lock was held to its end', async () => {
    const { locks } = inMemory();
    instrumentLocks(locks, { tracerProvider: sdk.tracerProvider });
    const failure = new Error('work');
    await expect(locks.withLock('a', () => Promise.reject(failure))).rejects.toBe(failure);
    expect(sdk.span('hold')).toMatchObject({ status: UNSET, events: [] });
  });

  it('end with the service', async () => {
    const { locks } = inMemory();
    instrumentLocks(locks, { tracerProvider: sdk.tracerProvider });
    await locks.enter('a');
    await locks.close();
    expect(sdk.span('hold')!.attributes['error.type']).toBe('closed');
    await rejectionOf(locks.acquire('a'));
    expect(sdk.spans().at(-1)).toMatchObject({ name: 'acquire', status: FAILED });
  });
});

describe('recordKeys', () => {
  it('adds keys, fencing tokens and attempts', async () => {
    const { locks } = inMemory();
    instrumentLocks(locks, { tracerProvider: sdk.tracerProvider, recordKeys: true });
    const token = await locks.withLock('order:1', NAMED, (lock) => String(lock.fencingToken));
    const recorded = { 'holdfast.lock.keys': ['order:1'], 'holdfast.lock.fencing_token': token };
    expect(sdk.span('hold order:<id>')!.attributes).toEqual({ ...LOCK, ...recorded });
    expect(sdk.span('acquire order:<id>')!.attributes).toEqual({
      ...LOCK,
      ...recorded,
      'holdfast.acquire.attempts': 1,
    });
  });

  it('is off: no key stands anywhere, not in errors either', async () => {
    const { locks, store, lease, clock } = onFakeStore({ ttl: 3_000 });
    instrumentLocks(locks, { tracerProvider: sdk.tracerProvider });
    const key = 'ann@example.org';
    const down = () => Promise.reject(new Error(`${key} is down`));
    lease.onExtend = down;
    const held = rejectionOf(locks.withLock([key, `${key}2`], () => clock.advance(4_000)));
    await clock.advance(4_000);
    await held;
    store.onAcquire = down;
    await rejectionOf(locks.acquire(key));
    await rejectionOf(locks.withLock(key, { waitTimeout: 0 }, () => {}));
    expect(sdk.spans().length).toBeGreaterThanOrEqual(4);
    const shown = sdk.spans().map(({ name, attributes, events, status, links }) => {
      return { name, attributes, events, status, links };
    });
    expect(JSON.stringify(shown)).not.toContain('example.org');
    expect(JSON.stringify(shown)).not.toContain('fencing');
  });
});

describe('instrumentLocks', () => {
  it('makes spans of its service only', async () => {
    const { locks, others } = inMemory();
    const other = tracingSdk();
    instrumentLocks(locks, { tracerProvider: sdk.tracerProvider });
    instrumentLocks(others, { tracerProvider: other.tracerProvider });
    await locks.withLock('a', { name: 'mine' }, () => {});
    await others.withLock('a', { name: 'theirs' }, () => {});
    expect(sdk.trees()).toEqual([['acquire mine'], ['hold mine']]);
    expect(other.trees()).toEqual([['acquire theirs'], ['hold theirs']]);
  });

  it('makes spans from the first call on after the SDK has started', async () => {
    const { locks } = inMemory();
    instrumentLocks(locks);
    await locks.withLock('a', () => {});
    trace.setGlobalTracerProvider(sdk.tracerProvider);
    await locks.withLock('a', () => {});
    expect(sdk.trees()).toEqual([['acquire'], ['hold']]);
  });

  it('makes no more when its result is called, and ends those that have begun', async () => {
    const { locks } = inMemory();
    const end = instrumentLocks(locks, { tracerProvider: sdk.tracerProvider });
    await locks.withLock('a', async () => {
      end();
      end();
      await locks.withLock('b', { name: 'later' }, () => {});
    });
    expect(sdk.trees()).toEqual([['acquire'], ['hold']]);
    await locks.withLock('a', () => {});
    expect(sdk.spans()).toHaveLength(2);
    expect(locks.events.eventNames()).toEqual(inMemory().locks.events.eventNames());
  });

  it.each([
    [{ tracerProvider: {} }, 'tracerProvider must be a TracerProvider, got an object'],
    [{ recordKeys: 'yes' }, 'recordKeys must be a boolean, got the string "yes"'],
  ])('refuses %j', (options, message) => {
    const { locks } = inMemory();
    expect(() => instrumentLocks(locks, options as never)).toThrow(`instrumentLocks: ${message}`);
  });
});
