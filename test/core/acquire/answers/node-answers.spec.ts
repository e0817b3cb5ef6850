import { LockStoreError, LockTimeoutError } from 'nest-holdfast/core';
import type { AcquireRequest, QuorumReport } from 'nest-holdfast/core';
import { never, watch } from '../../support/outcome';
import { onFakeStore } from '../../support/setup';

const REPORT: QuorumReport = {
  ended: '1 of 3 nodes granted, 2 were needed',
  nodes: [{ node: 'one:6379', said: 'timeout' }],
};

/** A store with several nodes. */
function ofNodes(options: Parameters<typeof onFakeStore>[0]) {
  const around = onFakeStore(options);
  const reported: AcquireRequest[] = [];
  const report = (request: AcquireRequest) => {
    reported.push(request);
    return REPORT;
  };
  Object.assign(around.store, { report });
  return { ...around, reported };
}

describe('the answers of the nodes are in the error', () => {
  it('of a store that fails', async () => {
    const { locks, store, clock, reported } = ofNodes({ storeTimeout: 300 });
    store.onAcquire = never;
    const acquired = watch(locks.acquire('a'));
    await clock.advance(300);
    expect(acquired.error).toBeInstanceOf(LockStoreError);
    expect(acquired.error).toMatchObject({ nodes: REPORT.nodes });
    expect((acquired.error as Error).message).toContain(REPORT.ended);
    expect(reported).toEqual(store.requests);
  });

  it('of a wait that ends', async () => {
    const { locks, store, clock, reported } = ofNodes({ retryCount: 1 });
    store.onAcquire = () => Promise.resolve(undefined);
    const acquired = watch(locks.acquire('a', { waitTimeout: 1_000 }));
    await clock.advance(1_000);
    expect(acquired.error).toBeInstanceOf(LockTimeoutError);
    expect(acquired.error).toMatchObject({ nodes: REPORT.nodes });
    expect(reported).toEqual([store.requests.at(-1)]);
  });

  it('of a grant that came too late for use', async () => {
    const { locks, store, lease, clock } = ofNodes({ ttl: 1_000, waitTimeout: 0 });
    store.onAcquire = async () => {
      clock.jump(990);
      return lease;
    };
    const acquired = watch(locks.acquire('a'));
    await clock.advance(0);
    expect(acquired.error).toBeInstanceOf(LockStoreError);
    expect(acquired.error).toMatchObject({ nodes: REPORT.nodes });
    expect(lease.releases).toBe(1);
  });
});

describe('of several keys, the holder is named', () => {
  /** A store on which `b` is held, and a stranger has each key. */
  function withHolders() {
    const around = onFakeStore({ retryCount: 1 });
    const asked: string[] = [];
    const inspect = async (key: string) => {
      asked.push(key);
      return { key, holder: `holder of ${key}`, heldFor: 1_234.5 };
    };
    Object.assign(around.store, { inspect, onAcquire: () => Promise.resolve(undefined) });
    return { ...around, asked };
  }

  it('of the key that was refused, where the store knows it', async () => {
    const { locks, store, clock, asked } = withHolders();
    Object.assign(store, { refusedKey: () => 'b' });
    const acquired = watch(locks.acquire(['a', 'b'], { waitTimeout: 500 }));
    await clock.advance(600);
    expect(asked).toEqual(['b']);
    expect(acquired.error).toMatchObject({ heldBy: 'holder of b', heldFor: 1_234.5 });
    expect((acquired.error as Error).message).toContain('for 1235 ms');
  });

  it('of the first that has one, where it does not', async () => {
    const { locks, clock, asked } = withHolders();
    const acquired = watch(locks.acquire(['a', 'b'], { waitTimeout: 500 }));
    await clock.advance(600);
    expect(asked).toEqual(['a', 'b']);
    expect(acquired.error).toMatchObject({ heldBy: 'holder of a' });
  });

  it('by a call that waits, and not by one attempt, which is to cost one question', async () => {
    const { locks, clock, asked } = withHolders();
    const acquired = watch(locks.acquire('a', { waitTimeout: 0 }));
    await clock.advance(600);
    expect(acquired.error).toBeInstanceOf(LockTimeoutError);
    expect(asked).toEqual([]);
  });
});
