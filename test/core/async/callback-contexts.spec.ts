import { AsyncLocalStorage } from 'node:async_hooks';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { LeaderElection, LockService } from 'nest-holdfast/core';
import type { LockEventName, LockStore, StoreNotice } from 'nest-holdfast/core';
import { FakeClock } from 'nest-holdfast/testing';
import { FakeStore } from '../support/fake-store';
import { watch } from '../support/outcome';
import { inMemory, onFakeStore, onQueueStore } from '../support/setup';

const request = new AsyncLocalStorage<string>();

const ALL: readonly LockEventName[] = [
  'held',
  'reentered',
  'jeopardy',
  'recovered',
  'lost',
  'released',
  'releaseFailed',
  'node',
];

/** Notes what the context of each call is: nothing of a request, and no lock. */
function recorder(locks: LockService) {
  const seen: unknown[] = [];
  const note = (what: string) => () =>
    void seen.push([what, request.getStore(), locks.current()?.key]);
  return { seen, note };
}

/** Work of a request that holds a lock of its own. */
function asStranger<T>(locks: LockService, work: () => Promise<T>): Promise<T> {
  return request.run('stranger', () => locks.withLock('strange', work));
}

/** Runs through every event in the context of a stranger. `told` is called by listeners, or by subscribers of channels. */
async function allEvents(listen: (locks: LockService, note: (what: string) => () => void) => void) {
  let tell!: (notice: StoreNotice) => void;
  const store: LockStore = Object.assign(new FakeStore(), {
    observe: (observer: typeof tell) => (tell = observer),
  });
  const { lease } = store as FakeStore;
  const clock = new FakeClock(50_000);
  const locks = new LockService(store, { clock, ttl: 3_000 });
  const { seen, note } = recorder(locks);
  await asStranger(locks, async () => {
    listen(locks, note);
    const lock = await locks.acquire('a');
    await (await locks.acquire('strange', { reentrant: true })).release();
    lease.onExtend = () => Promise.reject(new Error('down'));
    await clock.advance(1_000);
    lease.onExtend = () => Promise.resolve(true);
    await clock.advance(300);
    lease.onRelease = () => Promise.reject(new Error('down'));
    await lock.release();
    tell({ type: 'node', node: 'a:1', state: 'suspended', reason: 'it hangs' });
    await locks.acquire('b', { autoExtend: false });
    await clock.advance(3_000);
  }).catch(() => undefined);
  return seen as [LockEventName, unknown, unknown][];
}

describe('callbacks of the library run in the root context', () => {
  afterEach(() => jest.restoreAllMocks());

  it('listeners of every event', async () => {
    const seen = await allEvents((locks, note) => {
      for (const name of ALL) locks.events.on(name, note(name));
    });
    expect(new Set(seen.map(([name]) => name))).toEqual(new Set(ALL));
    for (const each of seen) expect(each).toEqual([each[0], undefined, undefined]);
  });

  it('subscribers of every diagnostics channel', async () => {
    const subscribed: [string, () => void][] = [];
    const seen = await allEvents((_locks, note) => {
      for (const name of ALL) subscribed.push([`nest-holdfast:${name}`, note(name)]);
      for (const [channel, subscriber] of subscribed) subscribe(channel, subscriber);
    });
    for (const [channel, subscriber] of subscribed) unsubscribe(channel, subscriber);
    expect(new Set(seen.map(([name]) => name))).toEqual(new Set(ALL));
    for (const each of seen) expect(each).toEqual([each[0], undefined, undefined]);
  });

  it('what a listener goes on with, and the listener after one that entered a context of its own', async () => {
    const { locks, clock } = inMemory();
    const { seen, note } = recorder(locks);
    locks.events.on('held', () => request.enterWith('of a listener'));
    locks.events.on('released', () => {
      note('at once')();
      void Promise.resolve().then(note('later'));
    });
    await asStranger(locks, async () => (await locks.acquire('a')).release());
    await clock.advance(0);
    const both = [
      ['at once', undefined, undefined],
      ['later', undefined, undefined],
    ];
    expect(seen).toEqual([...both, ...both]);
  });

  it.each(['the shared timer', 'a look at it'])(
    'listeners of lock.signal, told by %s',
    async (by) => {
      const { locks, clock } = inMemory();
      const { seen, note } = recorder(locks);
      const lock = await request.run('owner', () =>
        locks.acquire('a', { ttl: 500, autoExtend: false }),
      );
      lock.signal.addEventListener('abort', note('signal'));
      await asStranger(locks, async () => {
        const short = await locks.acquire('b', { ttl: 100 }); // the timer is armed here
        if (by === 'the shared timer') await clock.advance(500);
        else {
          clock.jump(500);
          expect(lock.isHeld).toBe(false);
        }
        await short.release();
      });
      expect(seen).toEqual([['signal', undefined, undefined]]);
    },
  );

  it('listeners of the signals that a store is given', async () => {
    const { locks, store, clock } = onQueueStore();
    const { seen, note } = recorder(locks);
    const stop = new AbortController();
    const acquire = store.acquire.bind(store);
    jest.spyOn(store, 'acquire').mockImplementation((asked, signal) => {
      signal.addEventListener('abort', note('store'));
      return acquire(asked, signal);
    });
    const waits = [
      watch(locks.acquire('a', { signal: stop.signal })),
      watch(locks.acquire('b', { waitTimeout: 500 })),
    ];
    await clock.advance(0);
    store.onAcquire = () => Promise.resolve(store.lease);
    await asStranger(locks, async () => {
      stop.abort();
      await clock.advance(500);
    });
    expect(waits.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    expect(seen).toEqual([1, 2].map(() => ['store', undefined, undefined]));
  });

  it('process warnings', async () => {
    const { locks } = onFakeStore();
    const { seen, note } = recorder(locks);
    jest.spyOn(process, 'emitWarning').mockImplementation(note('warning'));
    locks.events.on('held', () => {
      throw new Error('broken');
    });
    await asStranger(locks, async () => undefined);
    expect(seen).toEqual([['warning', undefined, undefined]]);
  });

  it('everything of an election, in any context that starts and ends it', async () => {
    const { locks, clock } = inMemory();
    const { seen, note } = recorder(locks);
    const onElected = async (term: { signal: AbortSignal }) => {
      note('onElected')();
      term.signal.addEventListener('abort', note('signal'));
      await Promise.resolve();
      note('onElected, later')();
    };
    const election = new LeaderElection(locks, 'x', { onElected, clock });
    for (const name of ['elected', 'resigned'] as const) election.events.on(name, note(name));
    await asStranger(locks, async () => {
      election.start();
      await clock.advance(0);
      const resigned = election.resign();
      await clock.advance(0);
      await resigned;
      await clock.advance(2_000);
      const stopped = election.stop();
      await clock.advance(0);
      await stopped;
    });
    const term = ['elected', 'onElected', 'onElected, later', 'signal', 'resigned'];
    expect(seen).toEqual([...term, ...term].map((what) => [what, undefined, undefined]));
  });

  it("a wait goes on in its caller's context, whoever has armed the timer that ends it", async () => {
    const { locks, clock } = inMemory();
    const { seen, note } = recorder(locks);
    await asStranger(locks, async () => {
      const held = await locks.acquire('a', { ttl: 100 }); // arms the timer
      const waits = request.run('owner', () =>
        locks.outside(() => [
          locks.acquire('a', { waitTimeout: 50 }).catch(note('rejected')),
          locks.withLock('a', note('granted')),
        ]),
      );
      await clock.advance(60);
      await held.release();
      await Promise.all(waits);
    });
    expect(seen).toEqual([
      ['rejected', 'owner', undefined],
      ['granted', 'owner', 'a'],
    ]);
  });
});

describe('FakeClock', () => {
  it("calls back in the context that has scheduled the call, as Node's timers do", async () => {
    const clock = new FakeClock();
    const seen: unknown[] = [];
    request.run('scheduler', () => clock.schedule(5, () => seen.push(request.getStore())));
    await request.run('mover', () => clock.advance(5));
    expect(seen).toEqual(['scheduler']);
  });
});
