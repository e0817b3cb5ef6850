import type { Lock } from 'nest-holdfast';
import { FencingGate } from '../../lib/fencing/index.js';
import { startApp } from '../nest/support/test-app.js';
import { RedisLocks } from '../stores/redis/locks.js';
import { ChildProcess } from '../support/processes/child-process.js';
import { MariaDbServer } from '../support/servers/mariadb-server.js';
import { PostgresServer } from '../support/servers/postgres-server.js';
import { RedisServer } from '../support/servers/redis-server.js';
import { Listening, OrdersController, orderApp } from './order-apps.js';
import { KINDS, type Resource, type Urls, createTable, open } from './resources.js';
import type { PausedHolderMessage } from './workers/paused-holder.worker.js';

const [UNFENCED, FENCED] = [KINDS.at(-1)!, KINDS.slice(0, -1)];

describe('A holder that was stopped for longer than its ttl, and goes on writing', () => {
  const opened: AsyncDisposable[] = [];
  const resources = new Map<string, Resource>();
  let holder: ChildProcess<'write', PausedHolderMessage>;
  let lock: Lock;
  let before: Readonly<Record<string, string>>;
  let after: Readonly<Record<string, string>>;
  let staleToken: bigint;

  beforeAll(async () => {
    const redis = use(await RedisServer.start());
    const urls = await startResources(redis.url);
    for (const kind of KINDS) resources.set(kind, open(kind, urls));
    holder = use(
      new ChildProcess('test/fencing/workers/paused-holder.worker.ts', {
        args: [redis.url, JSON.stringify(urls)],
      }),
    );
    before = ((await holder.next()) as { outcomes: typeof before }).outcomes;
    staleToken = BigInt(((await holder.next()) as { token: string }).token);

    holder.pause();
    const own = use(new RedisLocks(redis.url, { waitTimeout: 20_000 }));
    lock = await own.locks.acquire('order:42'); // granted when the ttl of the other one is over
    for (const resource of resources.values()) await resource.write(lock, 'newer');

    holder.send('write');
    holder.resume();
    after = ((await holder.next()) as { outcomes: typeof after }).outcomes;
  });

  afterAll(async () => {
    holder?.resume();
    for (const resource of resources.values()) await resource.close();
    for (const each of opened.toReversed()) await each[Symbol.asyncDispose]();
  });

  async function startResources(redisUrl: string): Promise<Urls> {
    const [postgres, mariaDb] = await Promise.all([PostgresServer.start(), MariaDbServer.start()]);
    use(postgres);
    use(mariaDb);
    await createTable('PostgreSQL', postgres.url);
    await createTable('MariaDB', mariaDb.url);
    const express = use(await Listening.start(orderApp()));
    const nest = use(await startApp({ controllers: [OrdersController] }));
    return {
      PostgreSQL: postgres.url,
      MariaDB: mariaDb.url,
      Redis: redisUrl,
      unfenced: redisUrl,
      Express: express.url,
      Nest: await nest.app.getUrl(),
    };
  }

  function use<T extends AsyncDisposable>(resource: T): T {
    opened.push(resource);
    return resource;
  }

  it('held the lock and wrote everything, and its token is the smaller one', () => {
    expect(before).toEqual(Object.fromEntries(KINDS.map((kind) => [kind, 'written'])));
    expect(staleToken).toBeLessThan(lock.fencingToken);
  });

  it.each(FENCED)('%s refuses its late write, and the newer one stands', async (kind) => {
    const isHttp = kind === 'Express' || kind === 'Nest';
    expect(after[kind]).toBe(isHttp ? '409 LOCK_STALE' : 'LOCK_STALE');
    expect(await resources.get(kind)!.read()).toBe('newer');
  });

  it.each(FENCED)('%s lets the newer holder write again', async (kind) => {
    const resource = resources.get(kind)!;
    await resource.write(lock, 'again');
    expect(await resource.read()).toBe('again');
  });

  it('a resource that does not check is overwritten', async () => {
    expect(after[UNFENCED]).toBe('written');
    expect(await resources.get(UNFENCED)!.read()).toBe('late');
  });

  it('a gate in this process refuses it', async () => {
    const gate = new FencingGate();
    const writes: string[] = [];
    await gate.run({ key: 'order:42', fencingToken: staleToken }, () => writes.push('first'));
    await gate.run(lock, () => writes.push('newer'));
    const late = gate.run({ key: 'order:42', fencingToken: staleToken }, () => writes.push('late'));
    await expect(late).rejects.toMatchObject({
      code: 'LOCK_STALE',
      key: 'order:42',
      fencingToken: staleToken,
      newest: lock.fencingToken,
    });
    expect(writes).toEqual(['first', 'newer']);
  });
});
