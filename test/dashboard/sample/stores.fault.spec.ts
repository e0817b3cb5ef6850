import { Redis } from 'ioredis';
import Database from 'libsql';
import { LockService, MemoryLockStore, RedisLockStore } from 'nest-holdfast/core';
import type { LockStore } from 'nest-holdfast/core';
import { lockDashboard } from 'nest-holdfast/dashboard';
import { SqlLockStore } from 'nest-holdfast/sql';
import { BACKENDS } from '../../stores/support/backends.js';
import type { Backend, Opened } from '../../stores/support/backends.js';
import { disconnect } from '../../stores/redis/locks.js';
import { TcpProxy } from '../../support/processes/tcp-proxy.js';
import { RedisServer } from '../../support/servers/redis-server.js';
import { until } from '../../support/until.js';
import { Events, snapshotAt } from '../support/browser-requests.js';
import { serve } from '../support/served.js';

/** The page of `locks`, for the time of `look`. */
async function shown(locks: LockService, look: (base: string) => Promise<void>): Promise<void> {
  const page = lockDashboard({ locks, authorize: 'public' });
  const served = await serve(page);
  try {
    await look(`${served.origin}/`);
  } finally {
    page.close();
    await served.close();
  }
}

/** Another process holds a lock, and this one waits for it and holds two. */
async function expectRows(locks: LockService, others: LockService): Promise<void> {
  const [free] = await Promise.all([
    others.acquire('theirs'),
    locks.acquire('page', { name: 'ours' }),
  ]);
  const both = await locks.acquire(['one', 'two'], { waitTimeout: 5_000 });
  const waiter = locks.acquire('theirs', { name: 'patient', waitTimeout: 60_000 });
  await until(() => locks.waiting().length === 1);
  await shown(locks, async (base) => {
    const events = await Events.open(`${base}api/events?key=theirs`);
    const snapshot = await events.until(
      ({ locks: rows }) => (rows.find(({ key }) => key === 'theirs')?.waiterCount ?? 0) > 0,
    );
    expect(snapshot).toMatchObject({ canList: true, isComplete: true, total: 4 });
    expect(snapshot.failure).toBeUndefined();
    const states = snapshot.nodes.map(({ state }) => state);
    expect(states).toEqual(snapshot.store === 'redlock' ? ['up'] : []);
    expect(snapshot.locks.map(({ key }) => key).toSorted()).toEqual(['one', 'page', 'theirs', 'two']); // prettier-ignore
    const theirs = { key: 'theirs', mode: 'write', isLocal: false, state: 'held', name: 'patient' };
    expect(snapshot.locks.find(({ key }) => key === 'theirs')).toMatchObject(theirs);
    expect(snapshot.detail).toMatchObject({ ...theirs, waiterCount: 1 });
    expect(snapshot.detail!.holders).toMatchObject([{ pid: process.pid }]);
    expect(snapshot.detail!.waiters).toMatchObject([{ text: snapshot.reader }]);
    expect(snapshot.locks.find(({ key }) => key === 'page')).toMatchObject({
      isLocal: true,
      name: 'ours',
      heldFor: expect.any(Number),
      fencingToken: expect.stringMatching(/^\d+$/),
    });
    await free.release();
    await (await waiter).release();
    expect((await events.until(({ detail }) => detail === null)).total).toBe(3);
    events.close();
  });
  await both.release();
}

const redis = async (): Promise<Backend> => {
  const { port } = await RedisServer.shared();
  const open = (at: number) => {
    const client = new Redis(at, '127.0.0.1', { retryStrategy: () => 20 });
    client.on('error', () => {});
    return { store: new RedisLockStore(client), close: () => disconnect(client) };
  };
  return { port, open };
};

describe.each([['Redis', redis] as const, ...BACKENDS])('The page of %s', (_, start) => {
  let backend: Backend;
  let proxy: TcpProxy;
  let opened: Opened[];
  let locks: LockService;
  let others: LockService;

  beforeAll(async () => {
    backend = await start();
    proxy = await TcpProxy.start(backend.port);
    opened = [backend.open(proxy.port), backend.open(backend.port)];
    [locks, others] = opened.map(
      ({ store }) => new LockService(store, { storeTimeout: 10_000 }),
    ) as [LockService, LockService];
  });
  afterAll(async () => {
    proxy.pass();
    await Promise.all([locks.close(), others.close()]);
    await proxy.stop();
    for (const { close } of opened) await close?.();
    await backend.stop?.();
  });

  it('shows who holds what and who waits', () => expectRows(locks, others));

  it('says in words that the store does not answer, and shows the locks of the process', async () => {
    const held = await locks.tryAcquire('page', { ttl: 60_000 });
    proxy.replies.hold();
    await shown(locks, async (base) => {
      const events = await Events.open(`${base}api/events`);
      const { failure, isComplete, locks: rows } = await events.until((snapshot) => !!snapshot.failure); // prettier-ignore
      expect(failure).toMatch(/\w+ \w+ \w+/);
      expect(isComplete).toBe(false);
      if (held || locks.held().length > 0) expect(rows).toContainEqual(expect.objectContaining({ key: 'page', isLocal: true })); // prettier-ignore
      proxy.pass();
      await events.until((snapshot) => snapshot.failure === undefined && snapshot.isComplete);
      events.close();
    });
  });
});

describe('The page of a store in this process', () => {
  const memory = new MemoryLockStore();
  const database = new Database(':memory:');
  const sqlite = new SqlLockStore({ sqlite: database });
  beforeAll(() => sqlite.createTable());
  afterAll(() => void database.close());

  it.each([
    ['memory', memory],
    ['sqlite', sqlite],
  ])('shows who holds what and who waits: %s', async (_, store: LockStore) => {
    const [locks, others] = [new LockService(store), new LockService(store)];
    await expectRows(locks, others);
    await Promise.all([locks.close(), others.close()]);
  });

  it('says that a store cannot list, and shows the locks of the process', async () => {
    const store = Object.assign(new MemoryLockStore(), { list: undefined, inspect: undefined });
    const locks = new LockService(store);
    await locks.withLock('here', () =>
      shown(locks, async (base) => {
        const snapshot = await snapshotAt(base, '?key=here');
        expect(snapshot).toMatchObject({ canList: false, isComplete: false, total: 1 });
        expect(snapshot.failure).toBeUndefined();
        expect(snapshot.detail).toMatchObject({ key: 'here', isLocal: true });
        expect((await snapshotAt(base, '?key=elsewhere')).detail).toBeUndefined();
      }),
    );
    await locks.close();
  });
});
