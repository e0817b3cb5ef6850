import { LockService, RedisLockStore } from 'nest-holdfast';
import { clusterSlot } from '../../../../lib/redis-client/cluster-slot.js';
import { RedisCluster } from '../../../support/servers/redis-cluster.js';
import { SlotMigration } from '../../../support/servers/slot-migration.js';
import { until } from '../../../support/until.js';
import { CLUSTER_CLIENTS, type ProcessClient } from './cluster-clients.js';
import { lineLength } from '../../../support/redis-line.js';

const ROWS = CLUSTER_CLIENTS.flatMap(
  ([name, open]) => [[name, open, 0], [`${name} and replicas: 1`, open, 1]] as const, // prettier-ignore
);

describe.each(ROWS)('A slot that moves to another master, with %s,', (_, open, replicas) => {
  let cluster: RedisCluster;
  let clients: ProcessClient[];
  let holding: LockService;
  let others: LockService;
  let count = 0;
  let key = '';

  beforeAll(async () => {
    cluster = await RedisCluster.start(3, replicas);
  });

  beforeEach(async () => {
    key = `order:${(count += 1)}`;
    clients = [1, 2].map(() => open(cluster));
    [holding, others] = clients.map(({ client }) => {
      const store = new RedisLockStore(client, { replicas });
      return new LockService(store, { ttl: 20_000, waitTimeout: 60_000 });
    }) as [LockService, LockService];
  });

  afterEach(async () => {
    await Promise.all([holding.close(), others.close()]);
    for (const { end } of clients) end();
  });

  afterAll(() => cluster.stop());

  const lockKey = () => `lock:${key}`;
  const counterKey = () => `{lock:${key}}:fence`;
  const sharersKey = () => `{lock:${key}}:shared`;

  async function migration(): Promise<SlotMigration> {
    for (const node of cluster.nodes) await node.command('CONFIG', 'RESETSTAT');
    return SlotMigration.start(cluster, clusterSlot(lockKey()));
  }

  it('keeps a held lock, wherever it is just then, and gives it to no other caller', async () => {
    const lock = await holding.acquire(key);
    const moving = await migration();
    await lock.extend(20_000);
    await moving.move(lockKey());
    await lock.extend(20_000); // ASK
    await moving.move(counterKey());
    await lock.extend(20_000);
    await moving.finish();
    await lock.extend(20_000); // MOVED
    expect(await others.tryAcquire(key)).toBeUndefined();
    expect(await lock.release()).toBe(true);
    const next = await others.acquire(key, { waitTimeout: 0 });
    expect(next.fencingToken).toBeGreaterThan(lock.fencingToken);
  });

  it('keeps two held locks of it, one here and one there', async () => {
    const [here, there] = [`{lock:${key}}:here`, `{lock:${key}}:there`];
    const locks = [await holding.acquire(here), await holding.acquire(there)];
    const moving = await migration();
    await moving.move(`lock:${there}`);
    await Promise.all(locks.map((lock) => lock.extend(25_000)));
    expect(locks.map(({ state }) => state)).toEqual(['held', 'held']);
    expect(await isRefused(moving)).toBe(false);
    await moving.finish();
    expect(await Promise.all(locks.map((lock) => lock.release()))).toEqual([true, true]);
  });

  it.each([
    ['reader', { mode: 'read' }, {}],
    ['permit', { permits: 1 }, { permits: 1 }],
  ] as const)('keeps a held %s, wherever it is just then', async (_what, options, other) => {
    const lock = await holding.acquire(key, options);
    const moving = await migration();
    await lock.extend(20_000);
    await moving.move(lockKey());
    await moving.move(sharersKey());
    await lock.extend(20_000); // ASK
    await moving.finish();
    await lock.extend(20_000); // MOVED
    expect(await others.tryAcquire(key, other)).toBeUndefined();
    expect(await lock.release()).toBe(true);
    expect(await others.inspect(key)).toBeUndefined();
  });

  it.each([
    ['reader', 'the lock', { mode: 'read' }, () => lockKey()],
    ['reader', 'the set of sharers', { mode: 'read' }, () => sharersKey()],
    ['permit', 'the lock', { permits: 2 }, () => lockKey()],
    ['permit', 'the set of sharers', { permits: 2 }, () => sharersKey()],
  ] as const)(
    'keeps a held %s whose keys are apart for long, for only %s has moved',
    async (_what, _moved, options, moved) => {
      const lock = await holding.acquire(key, options);
      const doubts = jest.fn();
      holding.events.on('jeopardy', doubts);
      const moving = await migration();
      await moving.move(moved());
      await lock.extend(20_000);
      await lock.extend(25_000);
      expect(lock.state).toBe('held');
      expect(await isRefused(moving)).toBe(false); // not even asked twice
      expect(doubts).not.toHaveBeenCalled();
      await moving.finish();
      await lock.extend(20_000); // MOVED
      expect(await others.tryAcquire(key)).toBeUndefined();
      expect(await lock.release()).toBe(true);
      expect(await others.inspect(key)).toBeUndefined();
    },
  );

  it('lets the release of a reader through once it has moved, and those who wait behind it in', async () => {
    const lock = await holding.acquire(key, { mode: 'read' });
    const next = others.acquire(key);
    const moving = await migration();
    await moving.move(sharersKey());
    const released = lock.release();
    await until(() => isRefused(moving));
    await moving.finish();
    expect(await released).toBe(true);
    expect(await (await next).release()).toBe(true);
  });

  it('tells a reader that its lock is gone, though its keys are apart', async () => {
    const lock = await holding.acquire(key, { mode: 'read' });
    const moving = await migration();
    await moving.move(sharersKey());
    await moving.from.command('DEL', lockKey());
    await expect(lock.extend(20_000)).rejects.toMatchObject({ code: 'LOCK_LOST' });
    await moving.finish();
  });

  it.each([
    ['nothing', () => []],
    ['the lock', () => [lockKey()]],
    ['the counter', () => [counterKey()]],
    ['the lock and the counter', () => [lockKey(), counterKey()]],
  ])('answers others once it has moved, when %s had moved before', async (_what, moved) => {
    const lock = await holding.acquire(key);
    const moving = await migration();
    for (const each of moved()) await moving.move(each);
    let answered = false;
    const attempt = others.tryAcquire(key).finally(() => (answered = true));
    await until(() => isRefused(moving));
    expect(answered).toBe(false);
    await moving.finish();
    expect(await attempt).toBeUndefined();
    expect(await lock.release()).toBe(true);
  });

  it('gives others a LockStoreError when it stays half moved, and its keys as they were', async () => {
    const lock = await holding.acquire(key);
    const moving = await migration();
    await moving.move(counterKey());
    await expect(others.tryAcquire(key)).rejects.toMatchObject({
      code: 'LOCK_STORE_FAILED',
      message: expect.stringContaining('Too many Cluster redirections'),
    });
    await moving.finish();
    expect(await others.inspect(key)).toMatchObject({ fencingToken: lock.fencingToken });
    expect(await lock.release()).toBe(true);
  });

  it('lets a release through once it has moved', async () => {
    const lock = await holding.acquire(key);
    const moving = await migration();
    await moving.move(lockKey());
    const released = lock.release();
    await until(() => isRefused(moving));
    await moving.finish();
    expect(await released).toBe(true);
    expect(await others.inspect(key)).toBeUndefined();
  });

  it('takes those who wait in line along', async () => {
    const lock = await holding.acquire(key);
    const next = others.acquire(key);
    const moving = await migration();
    await until(
      async () => (await lineLength((...words) => moving.from.command(...words), lockKey())) === 1,
    );
    await moving.finish();
    expect(await lock.release()).toBe(true);
    expect((await next).fencingToken).toBeGreaterThan(lock.fencingToken);
  });

  it('puts the locks in it in doubt once the client knows, and no others', async () => {
    const events: string[] = [];
    holding.events.on('jeopardy', (event) => events.push(`jeopardy ${event.key}`));
    holding.events.on('recovered', (event) => events.push(`recovered ${event.key}`));
    await holding.acquire([key, 'elsewhere']);
    await holding.acquire('elsewhere else');
    expect(clusterSlot('lock:elsewhere else')).not.toBe(clusterSlot(lockKey()));
    await (await migration()).finish();
    clients[0]!.refresh?.();
    await until(() => events.length > 1);
    const name = [key, 'elsewhere'].toSorted()[0];
    expect(events).toEqual([`jeopardy ${name}`, `recovered ${name}`]);
  });
});

/** Whether a command was refused for keys that are elsewhere. */
async function isRefused({ from, to }: SlotMigration): Promise<boolean> {
  const stats = await Promise.all([from, to].map((node) => node.command('INFO', 'errorstats')));
  return stats.join().includes('errorstat_TRYAGAIN');
}
