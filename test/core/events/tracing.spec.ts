import { AsyncLocalStorage } from 'node:async_hooks';
import { tracingChannel } from 'node:diagnostics_channel';
import { setImmediate } from 'node:timers/promises';
import { LockService, MemoryLockStore } from 'nest-holdfast/core';
import type { AroundWork, LockAcquireTrace, LockHoldTrace } from 'nest-holdfast/core';
import { inMemory, onFakeStore } from '../support/setup';

const STEPS = ['start', 'end', 'asyncStart', 'asyncEnd', 'error'] as const;
const IN_ORDER = ['start', 'end', 'asyncStart', 'asyncEnd'];

/** The messages of a channel, with the steps that each was sent for. */
function tracesOf<Message extends object>(name: 'acquire' | 'hold') {
  const channel = tracingChannel<unknown, Message>(`nest-holdfast:${name}`);
  const traces = new Map<Message, string[]>();
  const handlers = Object.fromEntries(
    STEPS.map((step) => [
      step,
      (message: Message) => traces.set(message, [...(traces.get(message) ?? []), step]),
    ]),
  );
  channel.subscribe(handlers as never);
  return { traces, stop: () => channel.unsubscribe(handlers as never) };
}

describe('the tracing channel nest-holdfast:acquire', () => {
  let watched: ReturnType<typeof tracesOf<LockAcquireTrace>>;
  beforeEach(() => (watched = tracesOf('acquire')));
  afterEach(() => watched.stop());
  const traces = () => [...watched.traces];

  it('follows a call until it has the lock, and not its work', async () => {
    const { locks } = inMemory();
    await locks.withLock('a', { name: 'n', waitTimeout: 500 }, () => {
      const what = { key: 'a', keys: ['a'], name: 'n', mode: 'write', store: 'memory' };
      const result = expect.objectContaining({ key: 'a', fencingToken: expect.any(BigInt) });
      const { events } = locks;
      const message = { ...what, events, waitTimeout: 500, result, waited: 0, attempts: 1 };
      expect(traces()).toEqual([[message, IN_ORDER]]);
    });
    expect(watched.traces.size).toBe(1);
  });

  it('follows a wait', async () => {
    const { locks, clock } = inMemory();
    const first = await locks.acquire('a');
    const second = locks.acquire('a');
    await clock.advance(100);
    expect(traces()[1]![1]).toEqual(['start', 'end']);
    await first.release();
    await (await second).release();
    expect(traces()[1]![1]).toEqual(IN_ORDER);
  });

  it('ends with the error of the call', async () => {
    const { locks, others } = inMemory();
    await others.acquire('a');
    const error: unknown = await locks.acquire('a', { waitTimeout: 0 }).catch((each) => each);
    expect(traces()[1]).toEqual([
      expect.objectContaining({ error }),
      ['start', 'end', 'error', 'asyncStart', 'asyncEnd'],
    ]);
  });

  it('says of which service a call is', async () => {
    const { locks, others } = inMemory();
    await locks.withLock('a', () => {});
    await others.withLock('a', () => {});
    expect(traces().map(([{ events }]) => events)).toEqual([locks.events, others.events]);
  });

  it('ends without a result where tryAcquire finds the key held', async () => {
    const { locks, others } = inMemory();
    await others.acquire('a');
    expect(await locks.tryAcquire('a')).toBeUndefined();
    expect(traces()[1]![0].result).toBeUndefined();
    expect(traces()[1]![1]).toEqual(IN_ORDER);
    expect((await locks.tryAcquire('b'))!.isHeld).toBe(true);
  });
});

describe('the tracing channel nest-holdfast:hold', () => {
  let watched: ReturnType<typeof tracesOf<LockHoldTrace>>;
  beforeEach(() => (watched = tracesOf('hold')));
  afterEach(() => watched.stop());
  const traces = () => [...watched.traces];

  it('follows a lock from its grant until its release', async () => {
    const { locks } = inMemory();
    const lock = await locks.acquire('a', { name: 'n' });
    expect(traces()).toEqual([
      [expect.objectContaining({ key: 'a', name: 'n', mode: 'write' }), ['start', 'end']],
    ]);
    await lock.release();
    await setImmediate();
    expect(traces()[0]![1]).toEqual(IN_ORDER);
  });

  it('follows a lock that was handed off in the process', async () => {
    const { locks } = inMemory();
    const first = await locks.acquire('a');
    const second = locks.acquire('a');
    await first.release();
    await (await second).release();
    await setImmediate();
    expect(traces().map(([, steps]) => steps)).toEqual([IN_ORDER, IN_ORDER]);
  });

  it('says of which service a lock is', async () => {
    const { locks, others } = inMemory();
    await locks.withLock('a', () => {});
    await others.withLock('a', () => {});
    expect(traces()[0]![0].events).toBe(locks.events);
    expect(traces()[1]![0].events).toBe(others.events);
  });

  it('ends with the loss of a lock that is lost', async () => {
    const { locks, lease, clock } = onFakeStore({ ttl: 3_000 });
    lease.onExtend = () => Promise.resolve(false);
    await locks.acquire('a');
    await clock.advance(1_000);
    const error = expect.objectContaining({ code: 'LOCK_LOST', reason: 'gone' });
    expect(traces()).toEqual([
      [expect.objectContaining({ error }), ['start', 'end', 'error', 'asyncStart', 'asyncEnd']],
    ]);
  });

  it('begins in the async context of the caller', async () => {
    const context = new AsyncLocalStorage<string>();
    const seen: unknown[] = [];
    const channel = tracingChannel('nest-holdfast:hold');
    const look = { start: () => seen.push(context.getStore()) };
    channel.subscribe(look as never);
    const { locks } = inMemory();
    const first = await context.run('first', () => locks.acquire('a'));
    const second = context.run('second', () => locks.acquire('a'));
    await first.release();
    await (await second).release();
    channel.unsubscribe(look as never);
    expect(seen).toEqual(['first', 'second']);
  });
});

describe('aroundWork', () => {
  const active = new AsyncLocalStorage<LockHoldTrace>();
  const holds: LockHoldTrace[] = [];
  const aroundWork: AroundWork = (hold, run) => {
    holds.push(hold);
    return active.run(hold, run);
  };
  const locks = new LockService(new MemoryLockStore(), { aroundWork });
  beforeEach(() => void holds.splice(0));
  afterAll(() => locks.close());

  it('is called around the work, with the message of the hold', async () => {
    const watched = tracesOf<LockHoldTrace>('hold');
    const result = await locks.withLock('a', { name: 'n' }, async () => {
      await Promise.resolve();
      expect(active.getStore()).toMatchObject({ key: 'a', name: 'n' });
      expect(locks.current('a')).toBeDefined();
      return 7;
    });
    watched.stop();
    expect(result).toBe(7);
    expect(holds).toEqual([...watched.traces.keys()]);
    expect(holds[0]).toBe([...watched.traces.keys()][0]);
  });

  it('is called for permits and scopes, and not for nested calls', async () => {
    await locks.withPermit('p', { permits: 2 }, () => undefined);
    const scope = await locks.enter('s');
    scope.run(() => undefined);
    await scope.leave();
    await locks.withLock('a', () => locks.withLock('a', { reentrant: true }, () => undefined));
    expect(holds.map(({ key }) => key)).toEqual(['p', 's', 'a']);
  });

  it('lets errors of the work through', async () => {
    const failure = new Error('work');
    await expect(locks.withLock('a', () => Promise.reject(failure))).rejects.toBe(failure);
  });
});
