import { stubQuorum } from '../../stores/redlock/support/stub-quorum';
import { inMemory, onFakeStore } from '../support/setup';

describe('locks.waiting()', () => {
  it('lists the calls that wait, the oldest first', async () => {
    const { locks, others, clock } = inMemory();
    await others.acquire('a');
    await others.acquire('b');
    const end = new AbortController();
    const options = { signal: end.signal };
    const calls = [
      locks.acquire('a', { ...options, name: 'first' }),
      locks.acquire(['b', 'c'], { ...options, mode: 'read' }),
    ];
    await clock.advance(300);
    expect(locks.waiting()).toEqual([
      { key: 'a', keys: ['a'], name: 'first', mode: 'write', waited: 300 },
      { key: 'b', keys: ['b', 'c'], name: undefined, mode: 'read', waited: 300 },
    ]);
    expect(others.waiting()).toEqual([]);
    end.abort();
    await Promise.allSettled(calls);
    expect(locks.waiting()).toEqual([]);
  });

  it('does not list a call that waits for its first answer', async () => {
    const { locks, store } = onFakeStore();
    let answer!: (lease: typeof store.lease) => void;
    store.onAcquire = () => new Promise((resolve) => (answer = resolve));
    const call = locks.acquire('a');
    expect(locks.waiting()).toEqual([]);
    answer(store.lease);
    await call;
    expect(locks.waiting()).toEqual([]);
  });
});

describe('locks.nodes()', () => {
  it('lists those of a Redlock, and none of another store', async () => {
    const { locks, links, clock } = stubQuorum(3, { upFor: [60_000, 60_000, 0] });
    const states = () => locks.nodes().map(({ node, state }) => `${node} ${state}`);
    await locks.withLock('k', async () => {});
    expect(states()).toEqual(['a up', 'b up', 'c quarantined']);
    await clock.advance(60_000);
    expect(states()).toEqual(['a up', 'b up', 'c up']);
    links[1]!.isReady = false;
    expect(states()).toEqual(['a up', 'b disconnected', 'c up']);
    expect(inMemory().locks.nodes()).toEqual([]);
  });
});
