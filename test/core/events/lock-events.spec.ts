import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { LockEvents } from 'nest-holdfast/core';
import type { LockEventName } from 'nest-holdfast/core';
import { deferred } from '../support/outcome';
import { onFakeStore } from '../support/setup';

const NAMES = [
  'waiting',
  'refused',
  'timeout',
  'failed',
  'aborted',
  'audit',
  'held',
  'reentered',
  'jeopardy',
  'recovered',
  'lost',
  'overdue',
  'released',
  'releaseFailed',
  'node',
  'unscheduled',
] as const;
const message = {
  key: 'a',
  keys: ['a'],
  name: undefined,
  mode: 'write',
  store: 'fake',
  fencingToken: 1n,
  heldFor: 0,
  waited: 0,
  attempts: 1,
} as const;

describe('LockEvents', () => {
  afterEach(() => jest.restoreAllMocks());

  it('builds no event without a listener', () => {
    const build = jest.fn(() => message);
    new LockEvents().publish('held', build);
    expect(build).not.toHaveBeenCalled();
  });

  it('builds one event for all', () => {
    const events = new LockEvents();
    const [first, second] = [jest.fn(), jest.fn()];
    events.on('held', first);
    events.on('held', second);
    const build = jest.fn(() => message);
    events.publish('held', build);
    expect(build).toHaveBeenCalledTimes(1);
    expect(first).toHaveBeenCalledWith(message);
    expect(second).toHaveBeenCalledWith(message);
  });

  it('tells only those who asked for the event', () => {
    const events = new LockEvents();
    const listener = jest.fn();
    events.on('lost', listener);
    events.publish('held', () => message);
    expect(listener).not.toHaveBeenCalled();
  });

  it.each(NAMES)('publishes "%s" on diagnostics_channel, too', (name: LockEventName) => {
    const received = jest.fn();
    const build = jest.fn(() => message as never);
    subscribe(`nest-holdfast:${name}`, received);
    try {
      new LockEvents().publish(name, build);
    } finally {
      unsubscribe(`nest-holdfast:${name}`, received);
    }
    expect(received).toHaveBeenCalledWith(message, `nest-holdfast:${name}`);
    expect(build).toHaveBeenCalledTimes(1);
  });

  it('publishes to both, once each', () => {
    const events = new LockEvents();
    const [received, listener] = [jest.fn(), jest.fn()];
    subscribe('nest-holdfast:held', received);
    events.on('held', listener);
    events.publish('held', () => message);
    unsubscribe('nest-holdfast:held', received);
    expect([received, listener].map(({ mock }) => mock.calls.length)).toEqual([1, 1]);
  });

  it('reports a listener that throws as a warning', () => {
    const warn = jest.spyOn(process, 'emitWarning').mockReturnValue();
    const events = new LockEvents();
    events.on('held', () => {
      throw new Error('a bug in the listener');
    });
    expect(() => events.publish('held', () => message)).not.toThrow();
    expect(warn).toHaveBeenCalledWith(
      'A listener of lock event "held" threw: Error: a bug in the listener',
    );
  });

  it('tells the listeners behind one that throws, rejects, or has no text', async () => {
    const warned = jest.spyOn(process, 'emitWarning').mockImplementation(() => undefined);
    const events = new LockEvents();
    const heard: string[] = [];
    const listeners: (() => unknown)[] = [
      () => { throw new Error('a bug'); }, // prettier-ignore
      async () => { throw new Error('a later bug'); }, // prettier-ignore
      () => { throw Object.create(null); }, // prettier-ignore
      () => heard.push('last'),
    ];
    for (const listener of listeners) events.on('held', () => listener() as void);
    events.once('held', () => void heard.push('once'));
    events.publish('held', () => message);
    events.publish('held', () => message);
    await new Promise(setImmediate);
    expect(heard).toEqual(['last', 'once', 'last']);
    expect(warned).toHaveBeenCalledTimes(6);
    warned.mockRestore();
  });

  it('hides credentials in what a listener throws', () => {
    const warn = jest.spyOn(process, 'emitWarning').mockReturnValue();
    const events = new LockEvents();
    events.on('held', () => {
      throw new Error('cannot reach redis://:hunter2@h');
    });
    events.publish('held', () => message);
    expect(warn).toHaveBeenCalledWith(
      'A listener of lock event "held" threw: Error: cannot reach redis://***@h',
    );
  });

  it('reports an async listener that rejects as a warning', async () => {
    const warned = deferred<unknown>();
    jest.spyOn(process, 'emitWarning').mockImplementation(warned.resolve);
    const events = new LockEvents();
    const listener = async () => {
      throw new Error('a bug in the listener');
    };
    // oxlint-disable-next-line typescript/no-misused-promises -- the mistake that is tested
    events.on('lost', listener);
    events.publish('lost', () => message as never);
    expect(await warned.promise).toBe(
      'A listener of lock event "lost" threw: Error: a bug in the listener',
    );
  });
});

describe('nothing that happens in the background ends the process', () => {
  // Jest fails a test during which a rejection was unhandled or an exception uncaught.
  afterEach(() => jest.restoreAllMocks());

  it('with listeners that throw all the way of a lock', async () => {
    const warn = jest.spyOn(process, 'emitWarning').mockReturnValue();
    const { locks, lease, clock, events } = onFakeStore({ ttl: 3_000 });
    for (const name of NAMES) {
      locks.events.on(name, () => {
        throw new Error(name);
      });
    }
    const lock = await locks.acquire('a');
    lease.onExtend = () => Promise.reject(new Error('down'));
    await clock.advance(1_000);
    lease.onExtend = () => Promise.resolve(true);
    await clock.advance(300);
    lease.onExtend = () => Promise.resolve(false);
    await clock.advance(1_000);
    expect(lock.state).toBe('lost');
    lease.onRelease = () => Promise.reject(new Error('down'));
    await (await locks.acquire('a')).release();
    expect(events.join()).toBe('held,jeopardy,recovered,lost,held,released,releaseFailed');
    expect(warn).toHaveBeenCalledTimes(7);
    expect(clock.pendingTimers).toBe(0);
  });

  it('with a store that rejects, or throws, in every renewal until the lock is lost', async () => {
    for (const onExtend of [
      () => Promise.reject(new Error('down')),
      () => {
        throw new Error('down');
      },
    ]) {
      const { locks, lease, clock, events } = onFakeStore({ ttl: 3_000 });
      lease.onExtend = onExtend;
      await locks.acquire('a');
      await clock.advance(10_000);
      expect(events.at(-1)).toBe('lost');
      expect(clock.pendingTimers).toBe(0);
    }
  });
});

describe('a listener may release the lock that it is told of', () => {
  it.each(['jeopardy', 'recovered'] as const)(
    'on "%s"; nothing goes on behind it',
    async (name) => {
      const { locks, lease, clock, events } = onFakeStore({ ttl: 3_000 });
      const lock = await locks.acquire('a');
      locks.events.on(name, () => void lock.release());
      lease.onExtend = () => Promise.reject(new Error('down'));
      await clock.advance(1_000);
      lease.onExtend = () => Promise.resolve(true);
      await clock.advance(300);
      expect(lock.state).toBe('released');
      expect(events.at(-1)).toBe('released');
      expect(clock.pendingTimers).toBe(0);
      const before = lease.extensions.length;
      await clock.advance(10_000);
      expect(lease.extensions).toHaveLength(before);
    },
  );
});

it('every lock tells of its way by events', async () => {
  const { locks, clock } = onFakeStore({ ttl: 3_000 });
  const [held, released] = [jest.fn(), jest.fn()];
  locks.events.on('held', held);
  locks.events.on('released', released);
  const lock = await locks.tryAcquire(['b', 'a'], { name: 'both' });
  await clock.advance(5_000);
  await lock!.release();
  const where = { key: 'a', keys: ['a', 'b'], name: 'both', mode: 'write', store: 'fake' };
  const event = { ...where, fencingToken: 7n };
  expect(held.mock.calls).toEqual([[{ ...event, waited: 0, attempts: 1 }]]);
  expect(released.mock.calls).toEqual([[{ ...event, heldFor: 5_000 }]]);
});
