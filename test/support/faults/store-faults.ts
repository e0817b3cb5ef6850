import type { Lock } from 'nest-holdfast';
import { until } from '../until.js';
import type { Contender } from './contender.js';
import { FaultBench, LATENESS, type FaultyServer, type FaultyStore } from './fault-bench.js';
import { aborted, inTime } from './in-time.js';

export type { OpenedStore } from './contender.js';
export type { FaultyServer, FaultyStore } from './fault-bench.js';

/** For what is to be no later than something else. */
const GRACE = 500;

/**
 * Registers what every store has to bear: a server that crashes, hangs, or is cut off, while a lock is held, waited for or
 * released. After each, nothing is left behind in the store.
 */
export function storeFaults<Server extends FaultyServer>(store: FaultyStore<Server>): void {
  const { life, lateness = LATENESS } = store;
  const run = runOf(store);
  let bench: FaultBench<Server>;
  let key = '';

  beforeEach(() => ({ bench, key } = run.next()));

  it('killed and back during a hold: the lock survives or its loss is told', async () => {
    const [holder, other] = await Promise.all([bench.contender(), bench.contender()]);
    const lock = await holder.acquire(key);
    const next = run.waiting(other, key);
    await other.waits(key);
    await bench.restart();
    const isOurs = (await verdictOn(lock, life)) === 'held';
    expect(lock.isHeld).toBe(isOurs);
    expect(await lock.release()).toBe(isOurs);
    await (await next).release();
    await bench.nothingLeft();
  });

  it('killed and back during a wait: all who wait get the lock', async () => {
    const [holder, ...others] = await Promise.all([1, 2, 3].map(() => bench.contender()));
    const lock = await holder!.acquire(key);
    const waits = others.map(async (other) => {
      await using taken = await run.waiting(other, key);
      expect(taken.isHeld).toBe(true);
    });
    await Promise.all(others.map((other) => other.waits(key)));
    await bench.restart();
    await lock.release();
    await Promise.all(waits);
    await bench.nothingLeft();
  });

  it('killed and back during a release: the work keeps its result, and the key is free in time', async () => {
    const [holder, other] = await Promise.all([bench.contender(), bench.contender()]);
    const lock = await holder.acquire(key);
    bench.server.pause();
    const released = lock.release();
    await bench.restart();
    expect(await released).toEqual(expect.any(Boolean));
    await (await inTime(life + lateness, other.acquireAgain(key))).release();
    expect(await holder.locks.withLock(key, async () => 'done')).toBe('done');
    await bench.nothingLeft();
  });

  it('killed and away for longer: the lock is lost in time, and no caller waits for ever', async () => {
    const [holder, other] = await Promise.all([bench.contender(), bench.contender()]);
    const { signal } = await holder.acquire(key);
    await Promise.all([inTime(life + GRACE, aborted(signal)), bench.server.kill()]);
    holder.expectWarned();
    const refused = other.locks.acquire(key, { waitTimeout: 300 });
    await expect(inTime(1_000, refused)).rejects.toMatchObject({ code: /^LOCK_/ });
    await bench.restart();
    await (await other.acquireAgain(key)).release();
    await (await holder.acquireAgain(key)).release();
    await bench.nothingLeft();
  });

  it('hung for longer: the lock is lost in time and the work is not a success; then all goes on', async () => {
    const [holder, other] = await Promise.all([bench.contender(), bench.contender()]);
    let next: Promise<Lock>;
    const work = holder.locks.withLock(key, async (lock) => {
      next = other.acquire(key);
      await other.waits(key);
      bench.server.pause();
      await inTime(life + GRACE, aborted(lock.signal));
      return 'done';
    });
    await expect(work).rejects.toMatchObject({ code: 'LOCK_LOST', key, result: 'done' });
    holder.expectWarned();
    const refused = holder.locks.acquire(key, { waitTimeout: 300 });
    await expect(inTime(1_000, refused)).rejects.toMatchObject({ code: /^LOCK_/ });
    bench.server.resume();
    await (await next!).release();
    await (await holder.acquireAgain(key)).release();
    await bench.nothingLeft();
  });

  it('a connection that is cut and healed at once: the lock survives, and waiters go on', async () => {
    const [holder, waiter] = await Promise.all([bench.remoteContender(), bench.remoteContender()]);
    const lock = await holder.acquire(key);
    const next = waiter.acquire(key);
    await waiter.waits(key);
    bench.cut();
    expect(await verdictOn(lock, life)).toBe('held');
    expect(await lock.release()).toBe(true);
    await (await next).release();
    await bench.nothingLeft();
  });

  it('a process that is cut off for longer: its lock is lost before others get it, and it comes back', async () => {
    const [holder, other] = await Promise.all([bench.remoteContender(), bench.contender()]);
    const lock = await holder.acquire(key);
    const next = other.acquire(key);
    await other.waits(key);
    const { signal } = lock;
    bench.cutOff();
    const taken = await next; // fails if the one before is still held
    expect(signal.reason).toMatchObject({ code: 'LOCK_LOST', key });
    holder.expectWarned();
    await bench.heal();
    expect(await lock.release()).toBe(false);
    await taken.release();
    await (await holder.acquireAgain(key)).release();
    await bench.nothingLeft();
  });

  it('a process that is blocked for longer: it learns at once that its lock is lost', async () => {
    const [holder, other] = await Promise.all([bench.contender(), bench.contender()]);
    const lock = await holder.acquire(key);
    blockEventLoop(1.2 * life);
    expect(() => lock.assertHeld()).toThrow(expect.objectContaining({ code: 'LOCK_LOST', key }));
    expect(lock.isHeld).toBe(false);
    expect(await lock.release()).toBe(false);
    await (await other.acquireAgain(key)).release();
    await bench.nothingLeft();
  });

  if (store.leader) leaderKilled(store, run);
}

/** Registers only what an ensemble has to bear beyond that: the loss of its leader. */
export function leaderFaults<Server extends FaultyServer>(store: FaultyStore<Server>): void {
  leaderKilled(store, runOf(store));
}

function leaderKilled<Server extends FaultyServer>(store: FaultyStore<Server>, run: Run<Server>) {
  const leader = store.leader!;
  const { electionLife, life } = store;

  it('the leader killed while a lock is held and others wait: all get it in turn', async () => {
    const { bench, key } = run.next();
    const open = () => bench.contender(electionLife);
    const [holder, ...others] = await Promise.all([open(), open(), open()]);
    const lock = await holder.acquire(key);
    const waits = others.map(async (other) => (await run.waiting(other, key)).release());
    await Promise.all(others.map((other) => other.waits(key)));
    const member = await leader(bench.server);
    await member.kill();
    await leader(bench.server);
    const verdict = await verdictOn(lock, electionLife ?? life);
    const isReleased = await lock.release();
    if (electionLife !== undefined) expect([verdict, isReleased]).toEqual(['held', true]);
    await Promise.all(waits);
    await member.restart();
    await bench.nothingLeft();
  });
}

/** The bench of a suite, with a key of its own for each test. */
interface Run<Server extends FaultyServer> {
  next(): { bench: FaultBench<Server>; key: string };
  /** A wait that a crash of the server must not end, unless the store says that it may. */
  waiting(contender: Contender, key: string): Promise<Lock>;
}

function runOf<Server extends FaultyServer>(store: FaultyStore<Server>): Run<Server> {
  let bench: FaultBench<Server>;
  let keys = 0;

  beforeAll(async () => {
    bench = await FaultBench.start(store);
  });

  afterEach(() => bench.tidyUp());

  afterAll(() => bench.stop());

  return {
    next: () => ({ bench, key: `order:${(keys += 1)}` }),
    waiting: (contender, key) => {
      const lock = contender.acquire(key);
      if (!store.refusesWaiters) return lock;
      return lock.catch((error: { code?: string }) => {
        expect(error.code).toBe('LOCK_STORE_FAILED');
        return contender.acquireAgain(key);
      });
    },
  };
}

/** As a long garbage collection would: nothing of this process runs. */
function blockEventLoop(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}

/** Asks the store until it answers. */
function verdictOn(lock: Lock, ttl: number): Promise<'held' | 'lost'> {
  return until(
    async () => {
      try {
        await lock.extend(ttl);
        return 'held';
      } catch (error) {
        if ((error as { code?: string }).code === 'LOCK_LOST') return 'lost';
        throw error;
      }
    },
    { within: 30_000, every: 20, what: 'the store to say whether the lock is held' },
  );
}
