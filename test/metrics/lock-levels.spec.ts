import { LockLevels } from '../../lib/metrics/lock-levels';
import { inMemory, onFakeStore } from '../core/support/setup';
import { stubQuorum } from '../stores/redlock/support/stub-quorum';

const LOCK = { 'holdfast.lock.mode': 'write', 'holdfast.store.name': 'memory' };
const NAMED = { 'holdfast.lock.name': 'n', ...LOCK };

describe('the levels', () => {
  it('of locks are by name and mode, and go on at 0', async () => {
    const { locks } = inMemory();
    const levels = new LockLevels(locks);
    expect(levels.read('lockCount')).toEqual([]);
    const held = [await locks.acquire('a', { name: 'n' }), await locks.acquire('b', { name: 'n' })];
    await locks.acquire('c', { mode: 'read' });
    const write = { ...NAMED, 'holdfast.lock.state': 'held' };
    const read = { ...LOCK, 'holdfast.lock.mode': 'read', 'holdfast.lock.state': 'held' };
    expect(levels.read('lockCount')).toEqual([
      { attributes: write, value: 2 },
      { attributes: read, value: 1 },
    ]);
    for (const lock of held) await lock.release();
    expect(levels.read('lockCount')).toEqual([
      { attributes: write, value: 0 },
      { attributes: read, value: 1 },
    ]);
  });

  it('of locks have one state for each lock: jeopardy before overdue', async () => {
    const { locks, lease, clock } = onFakeStore({ ttl: 3_000 });
    const levels = new LockLevels(locks);
    const states = () =>
      levels
        .read('lockCount')
        .map(({ attributes, value }) => [attributes['holdfast.lock.state'], value]);
    await locks.acquire('a', { overdueAfter: 500 });
    await locks.acquire('b');
    await clock.advance(600);
    expect(states()).toEqual([
      ['overdue', 1],
      ['held', 1],
    ]);
    lease.onExtend = () => Promise.reject(new Error('down'));
    await clock.advance(500);
    expect(states()).toEqual([
      ['overdue', 0],
      ['held', 0],
      ['jeopardy', 2],
    ]);
  });

  it('of waits count the calls that were refused at first, until they end', async () => {
    const { locks, others, clock } = inMemory();
    const levels = new LockLevels(locks);
    const lock = await others.acquire('a');
    const waiting = locks.acquire('a', { name: 'n' });
    const inLine = locks.acquire('a', { name: 'n', waitTimeout: 100 }).catch(() => undefined);
    await clock.advance(50);
    expect(levels.read('pendingRequests')).toEqual([{ attributes: NAMED, value: 2 }]);
    await clock.advance(50);
    await inLine;
    expect(levels.read('pendingRequests')).toEqual([{ attributes: NAMED, value: 1 }]);
    await lock.release();
    await clock.advance(1_000);
    await waiting;
    expect(levels.read('pendingRequests')).toEqual([{ attributes: NAMED, value: 0 }]);
  });

  it('of nodes are by state', async () => {
    const own = stubQuorum(3, { nodeTimeout: 50, upFor: [60_000, 60_000, 60_000] });
    const levels = new LockLevels(own.locks);
    const use = () => own.locks.withLock('a', async () => {});
    const states = () =>
      levels
        .read('nodeCount')
        .map(({ attributes, value }) => [attributes['holdfast.node.state'], value]);
    await use();
    expect(states()).toEqual([['up', 3]]);
    own.nodes[2]!.stop();
    for (let miss = 0; miss < 3; miss++) {
      await use();
      await own.clock.advance(50);
    }
    expect(states()).toEqual([
      ['up', 2],
      ['suspended', 1],
    ]);
    expect(new LockLevels(inMemory().locks).read('nodeCount')).toEqual([]);
  });
});
