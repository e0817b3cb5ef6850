import type {
  AcquireRequest,
  FencingRange,
  Lease,
  LockStoreFeatures,
  StoreDoubt,
  StoreNotice,
} from 'nest-holdfast/core';
import { MemoryLockStore } from 'nest-holdfast/core';
import { type ConformanceOptions, FakeClock, lockStoreConformance } from 'nest-holdfast/testing';

type Change = (lease: Lease, request: AcquireRequest, store: ChangedStore) => Partial<Lease>;

/** The common part of the stores of one check, and the fault of their leases. */
class ChangedStore extends MemoryLockStore {
  readonly backend: MemoryLockStore;
  readonly change: Change;
  readonly sessions: AbortController[] = [];
  tell: (notice: StoreNotice) => void = () => {};

  constructor(backend: MemoryLockStore, change: Change) {
    super();
    this.backend = backend;
    this.change = change;
  }

  override async tryAcquire(request: AcquireRequest): Promise<Lease | undefined> {
    const lease = await this.backend.tryAcquire(request);
    return lease && { ...lease, ...this.change(lease, request, this) };
  }

  override observe(tell: (notice: StoreNotice) => void): void {
    this.tell = tell;
  }
}

class SessionStore extends ChangedStore {
  override readonly supports: LockStoreFeatures = { fencing: true, ttl: false };
}

interface Case extends Partial<ConformanceOptions> {
  readonly only: string;
  readonly change?: Change;
  readonly Store?: typeof ChangedStore;
}

/** Runs one check on stores that are changed. */
async function run({
  only,
  change = () => ({}),
  Store = ChangedStore,
  ...options
}: Case): Promise<void> {
  const backend = new MemoryLockStore(new FakeClock());
  let found: (() => Promise<void>) | undefined;
  lockStoreConformance({
    test: (name, each) => {
      if (name.startsWith(only)) found = each;
    },
    createStore: () => new Store(backend, change),
    ...options,
  });
  await found!();
}

/** A lease with a session, as it should be. */
const withSession: Change = (lease, _, store) => {
  const session = new AbortController();
  store.sessions.push(session);
  const { signal } = session;
  return { lost: signal, extend: async (ttl) => !signal.aborted && lease.extend(ttl) };
};

/** Frees the keys, and tells the leases. */
async function endSession(store: object, frees = true): Promise<void> {
  for (const each of (store as ChangedStore).sessions) each.abort(new Error('its session ended'));
  if (frees) await (store as Releasing).free();
}

interface Releasing {
  free(): Promise<void>;
}

class EndingStore extends SessionStore implements Releasing {
  readonly #leases: Lease[] = [];

  override async tryAcquire(request: AcquireRequest): Promise<Lease | undefined> {
    const lease = await super.tryAcquire(request);
    if (lease) this.#leases.push(lease);
    return lease;
  }

  async free(): Promise<void> {
    for (const each of this.#leases) await each.release();
  }
}

describe('lockStoreConformance and the end of a session', () => {
  const only = 'tells the leases of a session';
  const right = { only, Store: EndingStore, change: withSession, endSession };

  it('passes a store that tells', () => expect(run(right)).resolves.toBeUndefined());

  it('fails one that tells the leases of other sessions, too', async () => {
    const all: AbortController[] = [];
    const change: Change = (lease, request, store) => {
      const changed = withSession(lease, request, store);
      all.push(store.sessions.at(-1)!);
      return changed;
    };
    const end = async (store: object) => {
      for (const each of all) each.abort();
      await (store as Releasing).free();
    };
    await expect(run({ ...right, change, endSession: end })).rejects.toThrow();
  });

  it('fails one whose lost leases say that they are still held', async () => {
    const change: Change = (lease, request, store) => ({
      ...withSession(lease, request, store),
      extend: async () => true,
    });
    await expect(run({ ...right, change })).rejects.toThrow();
  });

  it('fails one that never tells', async () => {
    jest.spyOn(performance, 'now').mockImplementation(fastTime());
    const silent = (store: object) => (store as Releasing).free();
    await expect(run({ ...right, endSession: silent })).rejects.toThrow(
      /in vain for `lost` of every lease/,
    );
  });

  it('fails one whose keys stay taken', async () => {
    jest.spyOn(performance, 'now').mockImplementation(fastTime());
    const end = (store: object) => endSession(store, false);
    await expect(run({ ...right, endSession: end })).rejects.toThrow(/in vain for the keys/);
  });
});

describe('lockStoreConformance and the signals of sessions', () => {
  const only = 'gives every lease a signal of its own';

  it('passes a store that has them', () =>
    expect(run({ only, Store: SessionStore, change: withSession })).resolves.toBeUndefined());

  it('fails one without', async () => {
    await expect(run({ only, Store: SessionStore })).rejects.toThrow();
  });

  it('fails one with a signal for all leases', async () => {
    const { signal } = new AbortController();
    await expect(
      run({ only, Store: SessionStore, change: () => ({ lost: signal }) }),
    ).rejects.toThrow(/more than ten listeners/);
  });
});

describe('lockStoreConformance and a doubt', () => {
  const only = 'tells of a doubt';
  const reason = 'reconnected';
  const tell = (notice: Partial<StoreDoubt>) => (store: object) =>
    (store as ChangedStore).tell({ type: 'doubt', reason, ...notice });

  it('passes a store that tells', async () => {
    await run({ only, disconnect: tell({}) });
    await run({ only, disconnect: tell({ concerns: () => true }) });
  });

  it.each<[string, ConformanceOptions['disconnect']]>([
    ['one that does not tell', () => {}],
    ['one whose doubt concerns other keys', tell({ concerns: () => false })],
  ])('fails %s', async (_, disconnect) => {
    jest.spyOn(performance, 'now').mockImplementation(fastTime());
    await expect(run({ only, disconnect: disconnect! })).rejects.toThrow(/in vain for a doubt/);
  });

  it('fails one that gives no reason', async () => {
    await expect(run({ only, disconnect: tell({ reason: '' }) })).rejects.toThrow();
  });

  it('fails one that confirms what others can take', async () => {
    const leases: Lease[] = [];
    const change: Change = (lease) => {
      leases.push(lease);
      return { extend: async () => true };
    };
    const disconnect = async (store: object) => {
      tell({})(store);
      await leases[leases.length - 1]!.release();
    };
    await expect(run({ only, change, disconnect })).rejects.toThrow(/must agree/);
  });

  it('fails one that gives up what it still holds', async () => {
    const change: Change = () => ({ extend: async () => false });
    await expect(run({ only, change, disconnect: tell({}) })).rejects.toThrow(/must agree/);
  });
});

describe('lockStoreConformance and the time of a holder', () => {
  const only = 'tells for how long a key has been held';

  /** Tells what `tell` makes of the time, given the number of keys held before. */
  function timing(tell: (heldFor: number, before: number) => number | undefined): Case {
    const clock = new FakeClock();
    const backend = new MemoryLockStore(clock);
    const keys: string[] = [];
    class TimingStore extends MemoryLockStore {
      override tryAcquire = (request: AcquireRequest) => backend.tryAcquire(request);
      override async inspect(key: string) {
        const seen = await backend.inspect(key);
        if (!keys.includes(key)) keys.push(key);
        return seen && { ...seen, heldFor: tell(seen.heldFor!, keys.indexOf(key)) };
      }
    }
    const expire = async (ms: number) => clock.advance(ms);
    return { only, createStore: () => new TimingStore(), expire };
  }

  it('passes a store that knows it for each key', () =>
    expect(run(timing((heldFor) => heldFor))).resolves.toBeUndefined());

  it('passes one whose counters are ahead of the clock for some keys', () =>
    expect(
      run(timing((heldFor, before) => (before % 3 === 0 ? heldFor : undefined))),
    ).resolves.toBeUndefined());

  it.each([
    ['tells a time that is too short', () => 5, /held for 5 ms, at least 200 are due/],
    ['tells a time that is too long', () => 70_000, /held for 70000 ms, at most/],
  ])('fails one that %s', (_, tell, message) => expect(run(timing(tell))).rejects.toThrow(message));

  it('fails one that knows it for the first key only', () =>
    expect(run(timing((heldFor, before) => (before ? undefined : heldFor)))).rejects.toThrow(
      /of none of 10 held keys/,
    ));
});

describe('lockStoreConformance and fencing counters', () => {
  const raising = (raiseFencing: (range: FencingRange, lease: Lease) => Promise<boolean>): Change =>
    (lease) => ({ raiseFencing: (range) => raiseFencing(range, lease) }); // prettier-ignore

  it.each([
    'keeps a fencing token that is beyond the floor',
    'raises the fencing counter of a lease',
    'raises no fencing counter that is beyond',
    'raises no fencing counter for a lease that is gone',
  ])('pass a right store: %s', (only) => expect(run({ only })).resolves.toBeUndefined());

  it('fails a store whose floor lowers the token', async () => {
    let last: bigint | undefined;
    const change: Change = (lease, { fencingFloor }) => {
      last = fencingFloor ?? lease.fencingToken!;
      return { fencingToken: last };
    };
    const only = 'keeps a fencing token that is beyond the floor';
    await expect(run({ only, change })).rejects.toThrow();
  });

  it('fails a lease that raises nothing, and says so all the same', async () => {
    const change = raising(async () => true);
    await expect(run({ only: 'raises the fencing counter of a lease', change })).rejects.toThrow();
  });

  it('fails a lease that raises a counter that is beyond `from`', async () => {
    const change = raising((range, lease) =>
      lease.raiseFencing!({ ...range, from: lease.fencingToken! }),
    );
    await expect(
      run({ only: 'raises no fencing counter that is beyond', change }),
    ).rejects.toThrow();
  });

  it('fails a lease that is gone, and raises the counter of the next one', async () => {
    let newest: Lease | undefined;
    const change: Change = (lease) => {
      newest = lease;
      return { raiseFencing: (range) => newest!.raiseFencing!(range) };
    };
    const only = 'raises no fencing counter for a lease that is gone';
    await expect(run({ only, change })).rejects.toThrow();
  });
});

afterEach(() => jest.restoreAllMocks());

/** A clock that goes on by ten seconds with every look: waits without an end are given up at once. */
function fastTime(): () => number {
  let now = 0;
  return () => (now += 10_000);
}
