import { LeaderElection, LockService, MemoryLockStore } from 'nest-holdfast/core';
import type {
  AcquireRequest,
  LeaderElectionOptions,
  LeaderTerm,
  Lease,
  LockServiceOptions,
  LockStore,
  LockStoreFeatures,
} from 'nest-holdfast/core';
import { FakeClock } from 'nest-holdfast/testing';
import { deferred, never } from '../core/support/outcome.js';

const TTL = 3_000;
const PAUSE = 1_000;
/** Longer than the pause before the next candidacy, and than one between two attempts. */
const A_WHILE = 2 * PAUSE;

/** The way of one process to the store that all share, which can be cut. */
class OwnStore implements LockStore {
  readonly name = 'own';
  readonly supports: LockStoreFeatures;
  isDown = false;
  readonly #shared: MemoryLockStore;

  constructor(shared: MemoryLockStore) {
    this.#shared = shared;
    this.supports = shared.supports;
  }

  async tryAcquire(request: AcquireRequest): Promise<Lease | undefined> {
    return this.#own(await this.#reached().tryAcquire(request));
  }

  inspect(key: string) {
    return this.#shared.inspect(key);
  }

  #own(lease: Lease | undefined): Lease | undefined {
    if (!lease) return undefined;
    return {
      fencingToken: lease.fencingToken,
      extend: async (ttl) => this.#reached() && lease.extend(ttl),
      release: async () => this.#reached() && lease.release(),
    };
  }

  #reached(): LockStore {
    if (this.isDown) throw new Error('down');
    return this.#shared;
  }
}

/** One process that stands for election, and what happened in it. */
class Candidate {
  readonly store: OwnStore;
  readonly locks: LockService;
  readonly election: LeaderElection;
  readonly terms: LeaderTerm[] = [];
  readonly log: string[] = [];

  constructor(
    clock: FakeClock,
    shared: MemoryLockStore,
    options: LeaderElectionOptions = {},
    defaults: LockServiceOptions = {},
  ) {
    this.store = new OwnStore(shared);
    this.locks = new LockService(this.store, { clock, ...defaults });
    this.election = new LeaderElection(this.locks, 'scheduler', {
      clock,
      ttl: TTL,
      pause: PAUSE,
      ...options,
    });
    const { events } = this.election;
    events.on('elected', (term) => this.terms.push(term));
    for (const name of ['elected', 'jeopardy', 'resigned', 'lost', 'failed'] as const) {
      events.on(name, () => this.log.push(name));
    }
  }
}

describe('LeaderElection', () => {
  let clock: FakeClock;
  let shared: MemoryLockStore;
  let candidates: Candidate[];

  beforeEach(() => {
    clock = new FakeClock(50_000);
    shared = new MemoryLockStore(clock);
    candidates = [];
  });
  afterEach(async () => {
    for (const { election, locks, store } of candidates) {
      store.isDown = false;
      const stopped = election.stop();
      await clock.advance(10_000); // the longest that a resignation waits
      await stopped;
      await locks.close();
    }
    expect(clock.pendingTimers).toBe(0);
    expect(shared.held()).toEqual([]);
  });

  async function stand(
    options?: LeaderElectionOptions,
    defaults?: LockServiceOptions,
  ): Promise<Candidate> {
    const candidate = new Candidate(clock, shared, options, defaults);
    candidates.push(candidate);
    candidate.election.start();
    await clock.advance(0);
    return candidate;
  }

  const leading = () => candidates.map(({ election }) => election.isLeader);

  it('has one leader, whom all candidates can name', async () => {
    const [a, b] = [await stand(), await stand()];
    expect(leading()).toEqual([true, false]);
    expect(a.election.term).toBe(a.terms[0]);
    expect(b.election.term).toBeUndefined();
    const inspection = await b.election.leader();
    expect(inspection).toMatchObject({
      key: 'leader:scheduler',
      holder: expect.stringMatching(/:\d+:/),
    });
    expect(inspection!.fencingToken).toBe(a.terms[0]!.fencingToken);
    await clock.advance(20 * TTL);
    expect(leading()).toEqual([true, false]);
  });

  it('waits for its turn, whatever the defaults of the service are for others', async () => {
    const defaults = { waitTimeout: 0, retryCount: 0, maxWaiting: 0, maxHold: 1_000 };
    const [a, b] = [await stand({}, defaults), await stand({}, defaults)];
    await clock.advance(20 * TTL);
    expect([a.log, b.log]).toEqual([['elected'], []]);
    await a.election.stop();
    await clock.advance(A_WHILE);
    expect(b.log).toEqual(['elected']);
  });

  it('resigns when its service is drained, and no process of it stands again', async () => {
    const [a, b] = [await stand(), await stand()];
    const drained = a.locks.drain();
    await clock.advance(A_WHILE);
    expect(await drained).toEqual([]);
    expect(leading()).toEqual([false, true]);
    expect(a.log).toEqual(['elected', 'resigned']);
    await b.locks.drain();
    await clock.advance(10 * A_WHILE);
    expect(leading()).toEqual([false, false]);
  });

  it('stands in line, with any retryCount of the service', async () => {
    await stand();
    const locks = new LockService(shared, { clock, retryCount: 0 });
    const election = new LeaderElection(locks, 'scheduler', { clock, pause: PAUSE });
    const failures: unknown[] = [];
    election.events.on('failed', (error) => failures.push(error));
    election.start();
    await clock.advance(20 * TTL);
    await election.stop();
    await locks.close();
    expect(failures).toEqual([]);
  });

  it('takes it for no failure when the method ends with the signal', async () => {
    const a = await stand({
      onElected: ({ signal }) =>
        new Promise((_, reject) => {
          signal.addEventListener('abort', () => reject(signal.reason as Error));
        }),
    });
    await a.election.resign();
    expect(a.log).toEqual(['elected', 'resigned']);
  });

  it('has no leader before the first election', async () => {
    const a = await stand();
    await a.election.stop();
    expect(await a.election.leader()).toBeUndefined();
  });

  it('a resignation lets the next one lead, and the signal aborts before that', async () => {
    const [a, b] = [await stand(), await stand()];
    const [term] = a.terms;
    const { signal } = term!;
    await a.election.resign();
    expect([signal.aborted, term!.isLeader]).toEqual([true, false]);
    expect(signal.reason).toMatchObject({ code: 'LOCK_LOST', reason: 'released' });
    await clock.advance(A_WHILE);
    expect(leading()).toEqual([false, true]);
    expect(b.terms[0]!.fencingToken).toBeGreaterThan(term!.fencingToken);
    expect(() => term!.assertHeld()).toThrow(/no longer held/);
    await b.election.resign();
    await clock.advance(A_WHILE);
    expect(leading()).toEqual([true, false]); // it stands again
    expect(a.log).toEqual(['elected', 'resigned', 'elected']);
  });

  it('a resignation is that of the term, by any caller', async () => {
    const a = await stand();
    a.terms[0]!.resign();
    a.terms[0]!.resign();
    expect(a.election.isLeader).toBe(false);
    await clock.advance(0);
    expect(await a.election.leader()).toBeUndefined();
    await clock.advance(A_WHILE);
    expect(a.terms).toHaveLength(2);
    expect(a.log).toEqual(['elected', 'resigned', 'elected']);
  });

  it('to resign without a term does nothing', async () => {
    const [, b] = [await stand(), await stand()];
    await b.election.resign();
    expect(leading()).toEqual([true, false]);
  });

  it('a store that fails puts the term into jeopardy, then ends it; another one leads, and the first stands again', async () => {
    const [a, b] = [await stand(), await stand()];
    const [term] = a.terms;
    const jeopardy: unknown[] = [];
    a.election.events.on('jeopardy', (of, { error, remaining }) =>
      jeopardy.push([of, error, remaining]),
    );
    a.store.isDown = true;
    await clock.advance(TTL / 2);
    expect(jeopardy[0]).toEqual([term, expect.any(Error), expect.any(Number)]);
    expect(leading()).toEqual([true, false]);
    await clock.advance(TTL);
    expect(term!.signal.aborted).toBe(true);
    expect(term!.signal.reason).toMatchObject({ code: 'LOCK_LOST', reason: 'expired' });
    expect(leading()).toEqual([false, true]);
    expect(a.log.filter((name) => name !== 'jeopardy').slice(0, 2)).toEqual(['elected', 'lost']);

    await clock.advance(5 * PAUSE);
    expect(a.log).toContain('failed');
    a.store.isDown = false;
    await clock.advance(2 * PAUSE); // a stands again, whatever its pause
    await b.election.resign();
    await clock.advance(A_WHILE);
    expect(leading()).toEqual([true, false]);
    expect(a.terms[1]!.fencingToken).toBeGreaterThan(b.terms[0]!.fencingToken);
  });

  it('tells of jeopardy in its own lock only, and while it leads', async () => {
    const a = await stand();
    const other = await a.locks.acquire('other', { ttl: 600 });
    await a.election.stop();
    a.store.isDown = true;
    await clock.advance(600);
    expect(other.isHeld).toBe(false);
    expect(a.log).toEqual(['elected', 'resigned']);
    expect(a.locks.events.listenerCount('jeopardy')).toBe(0);
  });

  it('tells the truth at once after the process was stopped for longer than the ttl', async () => {
    const a = await stand();
    const [term] = a.terms;
    clock.jump(TTL);
    expect(a.election.isLeader).toBe(false);
    expect(term!.isLeader).toBe(false);
    expect(() => term!.assertHeld()).toThrow(/not extended in time/);
    expect(term!.signal.aborted).toBe(true);
    await clock.advance(0);
    expect(a.log).toEqual(['elected', 'lost']);
  });

  it('the signal of a term alone tells of it, too', async () => {
    const a = await stand();
    const [term] = a.terms;
    clock.jump(TTL);
    expect(term!.signal.aborted).toBe(true);
  });

  it('stops for good: it resigns, frees the key, and stands no more', async () => {
    const [a, b] = [await stand(), await stand()];
    await b.election.stop();
    await a.election.stop();
    expect(shared.held()).toEqual([]);
    await clock.advance(10 * PAUSE);
    expect(leading()).toEqual([false, false]);
    expect(b.log).toEqual([]);
    expect(() => a.election.start()).toThrow(/was stopped/);
  });

  it('stands once, however often it is started', async () => {
    const a = await stand();
    a.election.start();
    await clock.advance(A_WHILE);
    expect(a.terms).toHaveLength(1);
    await a.election.stop();
    expect(shared.held()).toEqual([]);
  });

  it('ends with its LockService', async () => {
    const a = await stand();
    await a.locks.close();
    await clock.advance(10 * PAUSE);
    expect(a.log).toEqual(['elected', 'lost']);
  });

  it('a listener that throws stops nothing', async () => {
    const warn = jest.spyOn(process, 'emitWarning').mockImplementation();
    const a = await stand();
    a.election.events.once('resigned', () => {
      throw new Error('of the listener');
    });
    await a.election.resign();
    await clock.advance(A_WHILE);
    expect(a.election.isLeader).toBe(true);
    const message = 'A listener of leader event "resigned" threw: Error: of the listener';
    expect(warn.mock.calls).toEqual([[message]]);
    warn.mockRestore();
  });

  describe('onElected', () => {
    it('is called in each term; the term goes on when it returns', async () => {
      const onElected = jest.fn();
      const a = await stand({ onElected });
      await clock.advance(10 * TTL);
      expect(onElected.mock.calls).toEqual([[a.terms[0]]]);
      expect(a.election.isLeader).toBe(true);
      await a.election.resign();
      await clock.advance(A_WHILE);
      expect(onElected.mock.calls).toEqual([[a.terms[0]], [a.terms[1]]]);
    });

    it('is waited for before a resignation lets another one lead', async () => {
      const end = deferred<void>();
      const [a] = [await stand({ onElected: () => end.promise }), await stand()];
      const resigned = a.election.resign();
      expect(a.terms[0]!.signal.aborted).toBe(true);
      await clock.advance(4_000);
      expect(leading()).toEqual([false, false]);
      a.terms[0]!.assertHeld(); // so that it can end what it is at
      end.resolve();
      await resigned;
      await clock.advance(A_WHILE);
      expect(leading()).toEqual([false, true]);
    });

    it('is not waited for longer than the grace period, and does not run twice at a time', async () => {
      const onElected = jest.fn(() => never<void>());
      const [a, b] = [await stand({ onElected, gracePeriod: 700 }), await stand()];
      const stopped = a.election.resign();
      await clock.advance(700);
      await stopped;
      await clock.advance(A_WHILE);
      expect(leading()).toEqual([false, true]);
      await b.election.stop();
      await clock.advance(10 * PAUSE);
      expect(onElected).toHaveBeenCalledTimes(1);
      expect(leading()).toEqual([false, false]);
    });

    it.each([
      ['throws', () => { throw new Error('of the work'); }], // prettier-ignore
      ['rejects', () => Promise.reject(new Error('of the work'))],
    ])('that %s resigns, and the campaign goes on', async (_, onElected) => {
      const failures: unknown[] = [];
      const a = new Candidate(clock, shared, { onElected });
      candidates.push(a);
      a.election.events.on('failed', (error) => failures.push(error));
      a.election.start();
      const b = await stand();
      await clock.advance(PAUSE / 2);
      expect(failures).toEqual([new Error('of the work')]);
      expect(b.election.isLeader).toBe(true);
      await b.election.stop();
      await clock.advance(A_WHILE);
      expect(failures.length).toBeGreaterThan(1);
      expect(failures.length).toBeLessThan(4); // it pauses in between
    });
  });

  it('goes by its own options, with any defaults of other locks', async () => {
    const locks = new LockService(shared, {
      clock,
      maxHold: 50,
      autoExtend: false,
      waitTimeout: 0,
    });
    const election = new LeaderElection(locks, 'scheduler', { clock, ttl: TTL });
    election.start();
    await clock.advance(5 * TTL);
    expect(election.isLeader).toBe(true);
    await election.stop();
    await locks.close();
  });

  it.each<[unknown, unknown, RegExp]>([
    ['', {}, /the name of an election must be a string that is not empty/],
    ['x', { onElected: 7 }, /onElected must be a function, got 7/],
    ['x', { pause: -1 }, /pause must be a whole number of ms from 0 to \d+, got -1/],
    ['x', { gracePeriod: 0.5 }, /gracePeriod must be .* got 0.5/],
    ['x', { ttl: 5 }, /ttl must be/],
    [
      'x',
      { timeout: 5 },
      /^LeaderElection: unknown option "timeout"; known options are ttl, storeTimeout/,
    ],
  ])('refuses %j with %j', (name, options, message) => {
    const locks = new LockService(shared, { clock });
    expect(() => new LeaderElection(locks, name as never, options as never)).toThrow(message);
  });
});
