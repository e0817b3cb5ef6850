import {
  LockDeadlockError,
  LockPermitsError,
  LockQueueFullError,
  LockService,
  LockStoreError,
  LockTimeoutError,
} from 'nest-holdfast/core';
import type { LockEventMap, LockOptions } from 'nest-holdfast/core';
import { inMemory, onFakeStore, onQueueStore } from '../support/setup';

const OF_A_CALL = ['waiting', 'refused', 'timeout', 'failed', 'aborted', 'held'] as const;

type CallEvent = LockEventMap[(typeof OF_A_CALL)[number]][0];

/** The events of calls, in order. */
function callEvents(locks: LockService) {
  const seen: [name: string, event: CallEvent][] = [];
  for (const name of OF_A_CALL)
    locks.events.on(name, (event: CallEvent) => seen.push([name, event]));
  return seen;
}

const CALL = { name: 'n', waitTimeout: 1_000 };
const EVENT = { key: 'a', keys: ['a'], name: 'n', mode: 'write', fencingToken: undefined };

describe('the events of a call', () => {
  it('that gets a free lock: held', async () => {
    const { locks } = inMemory();
    const seen = callEvents(locks);
    await locks.acquire('a', CALL);
    expect(seen).toMatchObject([['held', { key: 'a', name: 'n', waited: 0, attempts: 1 }]]);
  });

  it('that waits in the line of its process: waiting, held', async () => {
    const { locks, clock } = inMemory();
    const first = await locks.acquire('a');
    const seen = callEvents(locks);
    const second = locks.acquire('a', CALL);
    expect(seen).toEqual([['waiting', { ...EVENT, store: 'memory', waited: 0, attempts: 0 }]]);
    await clock.advance(300);
    await first.release();
    await second;
    expect(seen.slice(1)).toMatchObject([['held', { name: 'n', waited: 300 }]]);
  });

  it('that polls: waiting after the first refusal, held', async () => {
    const { locks, store, clock } = onFakeStore({ retryDelay: 100, retryJitter: 0 });
    store.onAcquire = () => Promise.resolve(undefined);
    const seen = callEvents(locks);
    const call = locks.acquire('a', CALL);
    await clock.advance(99);
    expect(seen).toMatchObject([['waiting', { waited: 0, attempts: 1 }]]);
    store.onAcquire = () => Promise.resolve(store.lease);
    await clock.advance(1);
    await call;
    expect(seen.slice(1)).toMatchObject([['held', { waited: 100, attempts: 2 }]]);
  });

  it("that waits in the store's queue: waiting, held", async () => {
    const { locks, store, clock } = onQueueStore();
    const seen = callEvents(locks);
    const call = locks.acquire('a', CALL);
    await clock.advance(200);
    store.grant();
    await call;
    expect(seen).toMatchObject([
      ['waiting', { attempts: 1 }],
      ['held', { waited: 200, attempts: 2 }],
    ]);
  });

  it.each([['read'], ['permits']])('say its mode: %s', async (mode) => {
    const { locks } = inMemory();
    const seen = callEvents(locks);
    await locks.acquire('a', mode === 'read' ? { mode } : { permits: 3 });
    expect(seen).toMatchObject([['held', { mode }]]);
  });

  it.each([
    ['in the line of its process', 'locks', 0],
    ['of the store', 'others', 2],
  ] as const)('that waits to its end %s: waiting, timeout', async (_, holder, attempts) => {
    const around = inMemory();
    const { locks, clock } = around;
    await around[holder].acquire('a');
    const seen = callEvents(locks);
    const call = locks.acquire('a', CALL).catch((error: unknown) => error);
    await clock.advance(1_000);
    const error = await call;
    expect(error).toBeInstanceOf(LockTimeoutError);
    const heldBy = expect.stringMatching(new RegExp(`:${process.pid}:\\d+$`));
    expect(error).toMatchObject({ heldBy });
    expect(seen.map(([name]) => name)).toEqual(['waiting', 'timeout']);
    expect(seen[1]![1]).toMatchObject({ ...EVENT, waited: 1_000, error, heldBy });
    expect(seen[1]![1].attempts).toBeGreaterThanOrEqual(attempts);
  });

  it.each([
    ['waitTimeout: 0', { waitTimeout: 0 }],
    ['retryCount: 0', { retryCount: 0 }],
  ])('that makes one attempt (%s): refused', async (_, options: LockOptions) => {
    const { locks, others } = inMemory();
    await others.acquire('a');
    const seen = callEvents(locks);
    const error: unknown = await locks.acquire('a', options).catch((each: unknown) => each);
    expect(error).toBeInstanceOf(LockTimeoutError);
    expect(error).not.toHaveProperty('heldBy'); // one attempt costs one question
    expect(seen).toMatchObject([['refused', { reason: 'held', attempts: 1, error }]]);
  });

  it.each([
    ['here', 'locks', 0],
    ['elsewhere', 'others', 1],
  ] as const)('of tryAcquire for a key that is held %s: refused', async (_, holder, attempts) => {
    const around = inMemory();
    await around[holder].acquire('a');
    const seen = callEvents(around.locks);
    expect(await around.locks.tryAcquire('a', { name: 'n' })).toBeUndefined();
    const event = { ...EVENT, reason: 'held', waited: 0, attempts, error: undefined };
    expect(seen).toMatchObject([['refused', event]]);
  });

  it('one too many: refused', async () => {
    const { locks } = inMemory({ maxWaiting: 0 });
    await locks.acquire('a');
    const seen = callEvents(locks);
    await expect(locks.acquire('a')).rejects.toBeInstanceOf(LockQueueFullError);
    const error = expect.any(LockQueueFullError);
    expect(seen).toMatchObject([['refused', { reason: 'queue-full', error }]]);
  });

  it.each([
    ['for a second', { waitTimeout: 5_000 }, ['waiting', 'refused']],
    ['for less', { waitTimeout: 500 }, ['waiting', 'refused']],
  ])('that waits for itself %s: refused', async (_, options, names) => {
    jest.spyOn(process, 'emitWarning').mockReturnValue();
    const { locks, clock } = inMemory();
    const seen = callEvents(locks);
    await locks.withLock('a', async () => {
      const call = expect(locks.acquire('a', options)).rejects.toBeInstanceOf(LockDeadlockError);
      await clock.advance(1_000);
      await call;
    });
    expect(seen.map(([name]) => name)).toEqual(['held', ...names]);
    expect(seen.at(-1)![1]).toMatchObject({ reason: 'deadlock' });
  });

  it('nested in a lock that it cannot share: refused, or failed', async () => {
    const { locks } = inMemory();
    const seen = callEvents(locks);
    await locks.withLock('a', { permits: 2 }, async () => {
      const nested = { reentrant: true };
      await expect(locks.acquire('a', nested)).rejects.toBeInstanceOf(LockDeadlockError);
      const other = locks.acquire('a', { ...nested, permits: 3 });
      await expect(other).rejects.toBeInstanceOf(LockPermitsError);
    });
    expect(seen.slice(1)).toMatchObject([
      ['refused', { reason: 'deadlock', waited: 0, attempts: 0 }],
      ['failed', { error: expect.any(LockPermitsError) }],
    ]);
  });

  it('on a store that fails: failed', async () => {
    const { locks, store } = onFakeStore();
    store.onAcquire = () => Promise.reject(new Error('down'));
    const seen = callEvents(locks);
    await expect(locks.acquire('a', CALL)).rejects.toBeInstanceOf(LockStoreError);
    await expect(locks.tryAcquire('a', CALL)).rejects.toBeInstanceOf(LockStoreError);
    const failed = { ...EVENT, store: 'fake', waited: 0, error: expect.any(LockStoreError) };
    expect(seen).toMatchObject([
      ['failed', { ...failed, attempts: 1 }],
      ['failed', { ...failed, attempts: 1 }],
    ]);
  });

  it('whose signal aborts: aborted', async () => {
    const { locks } = inMemory();
    await locks.acquire('a');
    const seen = callEvents(locks);
    const stop = new AbortController();
    const reason = new Error('enough');
    const call = locks.acquire('a', { ...CALL, signal: stop.signal });
    stop.abort(reason);
    await expect(call).rejects.toBe(reason);
    await expect(locks.acquire('a', { signal: stop.signal })).rejects.toBe(reason);
    expect(seen).toMatchObject([
      ['waiting', {}],
      ['aborted', { name: 'n', error: reason }],
      ['aborted', { error: reason, waited: 0, attempts: 0 }],
    ]);
  });

  it('that waits while the service is closed, or comes later: aborted', async () => {
    const { locks } = inMemory();
    await locks.acquire('a');
    const seen = callEvents(locks);
    const call = expect(locks.acquire('a')).rejects.toBeInstanceOf(LockStoreError);
    await locks.close();
    await call;
    await expect(locks.acquire('a')).rejects.toBeInstanceOf(LockStoreError);
    expect(seen.map(([name]) => name)).toEqual(['waiting', 'aborted', 'aborted']);
  });
});

describe('heldBy', () => {
  it('is asked for together by those who give up at once', async () => {
    const { locks, others, store, clock } = inMemory();
    await others.acquire('a');
    const inspect = jest.spyOn(store, 'inspect');
    const calls = Array.from({ length: 5 }, () =>
      locks.acquire('a', { waitTimeout: 500 }).catch((error: unknown) => error),
    );
    await clock.advance(500);
    for (const error of await Promise.all(calls))
      expect(error).toMatchObject({ heldBy: expect.any(String) });
    expect(inspect.mock.calls.length).toBeLessThan(5);
  });

  it('is of the refused key of several', async () => {
    const { locks, others, clock } = inMemory();
    await others.acquire('b');
    const call = locks.acquire(['a', 'b'], CALL).catch((error: unknown) => error);
    await clock.advance(1_000);
    const error = (await call) as LockTimeoutError;
    expect(error.heldBy).toEqual(expect.any(String));
  });

  it.each([
    ['fails', () => Promise.reject(new Error('down')), 0],
    ['hangs', () => new Promise<never>(() => {}), 100],
  ])('is missing where the store %s, and delays the error by 100 ms at most', async (...row) => {
    const { locks, others, store, clock } = inMemory();
    await others.acquire('a');
    jest.spyOn(store, 'inspect').mockImplementation(row[1]);
    let error: unknown;
    locks.acquire('a', CALL).catch((each: unknown) => (error = each));
    await clock.advance(1_000 + row[2]);
    expect(error).toBeInstanceOf(LockTimeoutError);
    expect(error).not.toHaveProperty('heldBy');
  });
});

it('no event is built without a listener', async () => {
  const { store, others } = inMemory();
  const locks = new LockService(store);
  const publish = locks.events.publish.bind(locks.events);
  jest.spyOn(locks.events, 'publish').mockImplementation((name) =>
    publish(name, () => {
      throw new Error(`built ${name}`);
    }),
  );
  await others.acquire('b');
  await (await locks.acquire('a')).release();
  expect(await locks.tryAcquire('b')).toBeUndefined();
});
