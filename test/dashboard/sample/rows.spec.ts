import { LockService, MemoryLockStore } from 'nest-holdfast/core';
import type { AcquireRequest, Lease } from 'nest-holdfast/core';
import { FakeClock } from 'nest-holdfast/testing';
import type { LockRow, SnapshotQuery } from '../../../lib/dashboard/api.js';
import { Sample } from '../../../lib/dashboard/sample/sample.js';
import { snapshotText } from '../../../lib/dashboard/sample/snapshots.js';
import { StoreWalk } from '../../../lib/dashboard/sample/store-walk.js';
import type { Snapshot } from '../../../lib/dashboard/api.js';

const CHARTS = { times: [], series: [] };

/** Extensions of its locks fail. */
class ShakyStore extends MemoryLockStore {
  override async tryAcquire(request: AcquireRequest): Promise<Lease | undefined> {
    const lease = await super.tryAcquire(request);
    if (!lease || !request.key.startsWith('shaky')) return lease;
    const { fencingToken } = lease;
    const extend = () => Promise.reject(new Error('away'));
    return { fencingToken, extend, release: () => lease.release() };
  }
}

describe('The rows of the page', () => {
  const clock = new FakeClock();
  const store = new ShakyStore(clock);
  let locks: LockService;
  let others: LockService;

  beforeEach(() => {
    const options = { clock, ttl: 600_000 };
    [locks, others] = [new LockService(store, options), new LockService(store, options)];
  });
  afterEach(() => Promise.all([locks.close(), others.close()]));

  async function shown(query: SnapshotQuery = {}, limit = 10_000): Promise<Snapshot> {
    const walk = new StoreWalk(locks, limit);
    await walk.run(clock, () => true);
    const sample = new Sample(locks, walk, new Map(), false);
    const context = { locks, actions: [], charts: () => CHARTS };
    return JSON.parse(snapshotText(sample, query, context)) as Snapshot;
  }

  const keys = ({ locks: rows }: Snapshot) => rows.map(({ key }) => key);

  it('have those in jeopardy first, then the overdue, then what is held longest', async () => {
    await locks.acquire('shaky', { ttl: 30 });
    await others.acquire('theirs');
    await clock.advance(8);
    await locks.acquire('old');
    await clock.advance(8);
    await locks.acquire('late', { overdueAfter: 5, name: 'slow' });
    await clock.advance(8);
    await locks.acquire('new');
    const snapshot = await shown();
    expect(keys(snapshot)).toEqual(['shaky', 'late', 'theirs', 'old', 'new']);
    expect(snapshot.locks.map(({ state }) => state)).toEqual([
      'jeopardy',
      'overdue',
      'held',
      'held',
      'held',
    ]);
    expect(snapshot.locks[3]).toMatchObject({ heldFor: 16, isLocal: true });
    expect(snapshot.names).toEqual(['slow']);
  });

  it.each<[SnapshotQuery, string[]]>([
    [{}, ['order:1', 'order:2', 'Report']],
    [{ search: 'ORDER' }, ['order:1', 'order:2']],
    [{ search: 'report' }, ['Report']],
    [{ search: String(process.pid) }, ['order:1', 'order:2', 'Report']],
    [{ name: 'order' }, ['order:1']],
    [{ state: 'overdue' }, ['order:1']],
    [{ state: 'held', search: 'r' }, ['order:2', 'Report']],
    [{ state: 'jeopardy' }, []],
  ])('are filtered on the server: %j', async (query, expected) => {
    await locks.acquire('order:1', { name: 'order', overdueAfter: 1 });
    await clock.advance(5);
    await others.acquire('order:2');
    await clock.advance(5);
    await locks.acquire('Report');
    const snapshot = await shown(query);
    expect([keys(snapshot), snapshot.total]).toEqual([expected, expected.length]);
  });

  it('are at most 200, and the number of all is told', async () => {
    await Promise.all(Array.from({ length: 250 }, (_, index) => locks.acquire(`key:${index}`)));
    const snapshot = await shown();
    expect([snapshot.locks.length, snapshot.total, snapshot.isComplete]).toEqual([200, 250, true]);
  });

  it('say when there are more locks than are read', async () => {
    await Promise.all(Array.from({ length: 50 }, (_, index) => others.acquire(`key:${index}`)));
    await locks.acquire('ours');
    const snapshot = await shown({}, 20);
    expect(snapshot.isComplete).toBe(false);
    expect(snapshot.total).toBeGreaterThanOrEqual(20);
    expect(snapshot.total).toBeLessThanOrEqual(22);
    expect(keys(snapshot)).toContain('ours');
  });

  it('tell sharers, permits, and those who wait in order', async () => {
    for (const service of [locks, locks, others]) await service.acquire('shared', { mode: 'read' });
    await locks.acquire('pool', { permits: 3 });
    await others.acquire('busy');
    const waits = ['a', 'b', 'c'].map((name) =>
      locks.acquire('busy', { name, waitTimeout: 1_000 }),
    );
    await clock.advance(1);
    const rows = new Map((await shown()).locks.map((row): [string, LockRow] => [row.key, row]));
    expect(rows.get('shared')).toMatchObject({ mode: 'read', permits: 'unlimited', isLocal: true });
    expect(rows.get('shared')!.holders).toHaveLength(3);
    expect(rows.get('pool')).toMatchObject({ mode: 'permits', permits: 3 });
    expect(rows.get('busy')).toMatchObject({ waiterCount: 3, name: 'a' });
    expect(rows.get('busy')!.waiters).toHaveLength(3);
    locks.endWaits();
    await Promise.allSettled(waits);
  });

  it('take a key for a text', async () => {
    const key = `"<img src=x onerror=alert(1)>'\n\u2028</script>`;
    await locks.acquire(key, { name: 'odd' });
    expect(keys(await shown({ search: '<img' }))).toEqual([key]);
  });
});
