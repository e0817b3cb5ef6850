import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'libsql';
import { type Pool, createPool } from 'mysql2/promise';
import { type AcquireRequest, LockService } from 'nest-holdfast';
import { type SqlClient, SqlLockStore } from 'nest-holdfast/sql';
import type { LockTable } from '../../../../lib/stores/sql/common/lock-table.js';
import { MysqlTable } from '../../../../lib/stores/sql/mysql/mysql-table.js';
import { PostgresTable } from '../../../../lib/stores/sql/postgres/postgres-table.js';
import { SqliteTable } from '../../../../lib/stores/sql/sqlite/sqlite-table.js';
import { inTime } from '../../../support/faults/in-time.js';
import { ChildProcess } from '../../../support/processes/child-process.js';
import { MariaDbServer } from '../../../support/servers/mariadb-server.js';
import { PostgresServer } from '../../../support/servers/postgres-server.js';
import { TcpProxy } from '../../../support/processes/tcp-proxy.js';
import { until } from '../../../support/until.js';
import { openPool } from '../postgres/postgres-pool.js';
import type { Answer, Held } from './sql-semaphores-process.js';

const KEY = 'export';
const QUOTED = '"holdfast_locks"';

/** A client of its own, as each process has one. */
interface Opened {
  readonly client: SqlClient;
  readonly end: () => Promise<unknown>;
}

interface Bench {
  /** As `openStore` knows it. */
  readonly kind: string;
  readonly address: string;
  readonly open: (address?: string) => Opened;
  readonly table: LockTable;
  /** Changes rows. */
  run(sql: string): Promise<unknown>;
  /** Makes all rows a day older. */
  readonly age: string;
  readonly server?: PostgresServer | MariaDbServer;
  stop(): Promise<void>;
}

async function postgres(): Promise<Bench> {
  const server = await PostgresServer.shared();
  const open = (url = server.url) => {
    const pool = openPool(url, { max: 4 });
    return { client: { postgres: pool }, pool, end: () => pool.end() };
  };
  const { pool, end } = open();
  const options = { quoted: QUOTED, channel: 'holdfast_locks', ddl: '', prepare: false };
  return {
    kind: 'postgres',
    address: server.url,
    open,
    table: new PostgresTable(pool, options),
    run: (sql) => pool.query(sql),
    age: `UPDATE holdfast_locks SET expires_at = expires_at - interval '25 hours', fencing = fencing - 90000000000`,
    server,
    stop: () => end().then(() => server.stop()),
  };
}

async function mariaDb(): Promise<Bench> {
  const server = await MariaDbServer.shared();
  const open = (uri = server.url) => {
    const pool = createPool({ uri, connectionLimit: 4 });
    return { client: { mysql: pool }, pool, end: () => pool.end() };
  };
  const { pool, end } = open();
  return {
    kind: 'mariadb',
    address: server.url,
    open,
    table: new MysqlTable(pool, '`holdfast_locks`', ''),
    run: (sql) => pool.query(sql),
    age: 'UPDATE holdfast_locks SET expires_at = expires_at - INTERVAL 25 HOUR, fencing = fencing - 90000000000',
    server,
    stop: () => end().then(() => server.stop()),
  };
}

async function sqlite(): Promise<Bench> {
  const folder = await mkdtemp(join(tmpdir(), 'holdfast-sqlite-'));
  const address = join(folder, 'locks.db');
  const open = () => {
    const database = new Database(address);
    return { client: { sqlite: database }, end: async () => void database.close() };
  };
  const own = new Database(address);
  return {
    kind: 'sqlite',
    address,
    open,
    table: new SqliteTable(own, QUOTED, ''),
    run: async (sql) => own.prepare(`${sql} RETURNING *`).all(),
    age: 'UPDATE holdfast_locks SET expires_at = expires_at - 90000000, fencing = fencing - 90000000000',
    stop: async () => {
      own.close();
      await rm(folder, { recursive: true });
    },
  };
}

const requestFor = (permits?: number, ttl = 30_000): AcquireRequest => ({ key: KEY, keys: [KEY], token: randomUUID(), ttl, permits }); // prettier-ignore

/** How many were inside at the same time, at most. */
function mostAtOnce(all: readonly Held[]): number {
  const beside = all.map(({ from }) => all.filter((each) => each.from <= from && from < each.to));
  return Math.max(...beside.map(({ length }) => length));
}

const benches = new Map<string, Bench>();

beforeAll(async () => {
  const starts = { PostgreSQL: postgres(), MariaDB: mariaDb(), SQLite: sqlite() };
  for (const [name, starting] of Object.entries(starts)) {
    const bench = await starting;
    benches.set(name, bench);
    const { client, end } = bench.open();
    await new SqlLockStore(client).createTable();
    await end();
  }
});

afterAll(() => Promise.all(Array.from(benches.values(), (bench) => bench.stop())));

const closers: (() => Promise<unknown>)[] = [];

afterEach(async () => {
  for (const close of closers.splice(0)) await close();
  for (const bench of benches.values()) await bench.run('DELETE FROM holdfast_locks');
});

function openStore(bench: Bench): SqlLockStore {
  const { client, end } = bench.open();
  const store = new SqlLockStore(client);
  closers.push(() => store.close().then(end));
  return store;
}

function service(bench: Bench): LockService {
  const polling = { retryDelay: 10, retryJitter: 10 };
  const locks = new LockService(openStore(bench), { waitTimeout: 15_000, ...polling });
  closers.unshift(() => locks.close());
  return locks;
}

function spawn({ kind, address }: Bench, ttl: number, callers: number) {
  const args = [kind, address, String(ttl), String(callers)];
  const file = 'test/stores/sql/common/sql-semaphores-process.ts';
  const child = new ChildProcess<'go on', Answer>(file, { args });
  closers.unshift(() => child.kill());
  return child;
}

describe.each(['PostgreSQL', 'MariaDB', 'SQLite'])('Semaphores in %s', (name) => {
  let bench: Bench;

  beforeAll(() => {
    bench = benches.get(name)!;
  });

  it('serve twelve callers of three processes, never more than three at once', async () => {
    const children = [1, 2, 3].map(() => spawn(bench, 10_000, 4));
    const answers = () => children.flatMap(({ messages }) => messages);
    await Promise.all(children.map((child) => child.next()));
    await until(() => answers().filter((answer) => answer === 'inside').length >= 3);
    const { permits, holders } = (await openStore(bench).inspect(KEY))!;
    expect([permits, holders?.length]).toEqual([3, 3]);
    for (const child of children) child.send('go on');
    const held = () => answers().filter((answer): answer is Held => typeof answer === 'object');
    await until(() => held().length === 12, { within: 30_000 });
    expect(mostAtOnce(held())).toBe(3);
  });

  it('refuse another number of permits at once, until none is held', async () => {
    const [one, other] = [service(bench), service(bench)];
    await one.withPermit(KEY, { permits: 3 }, async () => {
      const asked = other.withPermit(KEY, { permits: 5 }, async () => {});
      await expect(inTime(5_000, asked)).rejects.toMatchObject({
        code: 'LOCK_PERMITS_DIFFER',
        key: KEY,
        permits: 5,
        inUse: 3,
      });
      await other.withPermit(KEY, { permits: 3 }, async () => {});
    });
    await other.withPermit(KEY, { permits: 5 }, async () => {
      expect((await one.inspect(KEY))!.permits).toBe(5);
    });
  });

  it('exclude those who want the key alone, and are excluded by them', async () => {
    const services = [service(bench), service(bench), service(bench)];
    const inside = { alone: 0, sharing: 0 };
    const seen = { most: 0, wrong: 0 };
    const enter = async (as: keyof typeof inside) => {
      inside[as]++;
      if (inside.alone > 1 || (inside.alone === 1 && inside.sharing > 0)) seen.wrong++;
      seen.most = Math.max(seen.most, inside.sharing);
      await new Promise((resolve) => setTimeout(resolve, 3));
      inside[as]--;
    };
    const callers = services.flatMap((locks) => [
      ...[1, 2].map(() => locks.withLock(KEY, () => enter('alone'))),
      ...[1, 2, 3, 4].map(() => locks.withPermit(KEY, { permits: 2 }, () => enter('sharing'))),
    ]);
    await Promise.all(callers);
    expect(seen.wrong).toBe(0);
    expect(seen.most).toBeLessThanOrEqual(2); // a busy machine may let in one after the other
  });

  it('say nothing any more when one has taken over the key whose permits had expired', async () => {
    const store = openStore(bench);
    await store.tryAcquire(requestFor(3, 30));
    await store.tryAcquire(requestFor(3, 60));
    const alone = await until(() => store.tryAcquire(requestFor()));
    expect(await store.tryAcquire(requestFor(3))).toBeUndefined();
    expect(await store.tryAcquire(requestFor(5))).toBeUndefined();
    const seen = (await store.inspect(KEY))!;
    expect([seen.permits, seen.holders, seen.fencingToken]).toEqual([undefined, undefined, alone.fencingToken]); // prettier-ignore
    expect(await alone.release()).toBe(true);
    expect(await store.tryAcquire(requestFor(1))).toBeDefined();
    expect((await store.inspect(KEY))!.holders).toHaveLength(1);
  });

  it('are granted again to a caller that has one, also when none is left', async () => {
    const store = openStore(bench);
    const request = requestFor(2);
    const lease = await store.tryAcquire(request);
    await store.tryAcquire(requestFor(2));
    expect(await store.tryAcquire(requestFor(2))).toBeUndefined();
    expect(await store.tryAcquire({ ...request, ttl: 60_000 })).toBeDefined();
    const { holders, remaining } = (await store.inspect(KEY))!;
    expect(holders).toHaveLength(2);
    expect(remaining).toBeGreaterThan(30_000);
    expect(await lease!.release()).toBe(true);
    expect((await store.inspect(KEY))!.holders).toHaveLength(1);
  });

  it('tell who holds them, and until when the last one may', async () => {
    const store = openStore(bench);
    const names = [`host'); DROP TABLE holdfast_locks; --`, '漢字\\"', '😀'.repeat(100)];
    for (const [index, holder] of names.entries())
      await store.tryAcquire({ ...requestFor(3, index === 1 ? 20_000 : 10_000), holder });
    const seen = (await store.inspect(KEY))!;
    expect(seen).toMatchObject({ key: KEY, permits: 3, holders: names, holder: names[0] });
    expect(seen.remaining).toBeGreaterThan(15_000);
    expect(seen.remaining).toBeLessThanOrEqual(20_000);
  });

  it('free the key for one alone with the last ttl that is left, not with one that was given back', async () => {
    const store = openStore(bench);
    const long = await store.tryAcquire(requestFor(2, 60_000));
    const short = await store.tryAcquire(requestFor(2, 60_000));
    expect(await short!.extend(300)).toBe(true);
    expect(await long!.release()).toBe(true);
    await until(() => store.tryAcquire(requestFor()), { within: 5_000 });
    expect(await short!.extend(1_000)).toBe(false);
  });

  it('are removed with their row when none was held for a day', async () => {
    const store = openStore(bench);
    for (const key of ['lapsed', 'returned', 'held']) {
      const permit = await store.tryAcquire({ ...requestFor(3), key, keys: [key] });
      if (key === 'returned') await permit!.release();
    }
    await bench.run(bench.age);
    await store.tryAcquire({ ...requestFor(3), key: 'held', keys: ['held'] });
    expect(await bench.table.sweep(10)).toBe(2);
    expect((await store.inspect('held'))!.permits).toBe(3);
    expect(await bench.table.sweep(10)).toBe(0);
  });
});

/** On all of them at the same time: most of it is waiting. */
it('The permit of a process is kept for as long as it lives, and free within its ttl when it was killed', async () => {
  const ttl = 1_000;
  const onOne = async (bench: Bench) => {
    const child = spawn(bench, ttl, 1);
    const locks = service(bench);
    const own = [1, 2].map(() => locks.acquire(KEY, { permits: 3 }));
    await Promise.all([...own, child.received((answer) => answer === 'inside')]);
    const patient = locks.acquire(KEY, { permits: 3, waitTimeout: ttl * 1.5 });
    await expect(patient).rejects.toMatchObject({ code: 'LOCK_TIMEOUT' });
    const its = expect.stringContaining(`:${child.pid}:`);
    expect((await locks.inspect(KEY))!.holders).toContainEqual(its);
    await child.kill();
    const another = await inTime(ttl + 2_000, locks.acquire(KEY, { permits: 3 }));
    const { holders } = (await locks.inspect(KEY))!;
    expect(holders).toHaveLength(3);
    expect(holders).not.toContainEqual(its);
    for (const permit of [...own, another]) expect(await (await permit).release()).toBe(true);
    expect(await locks.inspect(KEY)).toBeUndefined();
  };
  await Promise.all(Array.from(benches.values(), onOne));
});

describe.each(['PostgreSQL', 'MariaDB'])('Semaphores on the server of %s', (name) => {
  let bench: Bench;
  let proxy: TcpProxy;
  let near: Opened;
  let far: Opened;
  let store: SqlLockStore;
  let locks: LockService;

  beforeAll(async () => {
    bench = benches.get(name)!;
    proxy = await TcpProxy.start(bench.server!.port);
    near = bench.open();
    store = new SqlLockStore(near.client);
  });

  beforeEach(async () => {
    far = bench.open(bench.server!.urlAt(proxy.port));
    locks = new LockService(new SqlLockStore(far.client), { ttl: 30_000 });
    await locks.withPermit('warm-up', { permits: 3 }, async () => {});
  });

  afterEach(async () => {
    proxy.pass();
    proxy.cutAll();
    await locks.close();
    await far.end();
    await bench.run('DELETE FROM holdfast_locks');
  });

  afterAll(async () => {
    await near.end();
    await proxy.stop();
  });

  const holders = async () => (await store.inspect(KEY))?.holders?.length;

  it('a permit whose answer was lost is asked for again, and counts once', async () => {
    proxy.replies.drop();
    const acquiring = locks.acquire(KEY, { permits: 3 });
    await until(holders);
    proxy.pass();
    proxy.cutAll();
    const permit = await inTime(5_000, acquiring);
    expect(await holders()).toBe(1);
    expect(await permit.release()).toBe(true);
    expect(await holders()).toBeUndefined();
  });

  it('a permit that was given up is taken back, and no other', async () => {
    const other = await store.tryAcquire(requestFor(3));
    proxy.replies.drop();
    const acquiring = locks.acquire(KEY, { permits: 3, waitTimeout: 200 });
    await expect(acquiring).rejects.toMatchObject({ code: 'LOCK_STORE_FAILED' });
    expect(await holders()).toBe(2);
    proxy.pass();
    proxy.cutAll();
    await until(async () => (await holders()) === 1);
    expect(await other!.release()).toBe(true);
  });

  it('each answer is one statement', async () => {
    const pool = Object.values(near.client)[0] as { query(...args: unknown[]): Promise<unknown> };
    const door = 'getConnection' in pool ? 'getConnection' : 'query'; // one statement for each
    const statements = jest.spyOn(pool as unknown as Record<string, () => unknown>, door);
    const permit = await store.tryAcquire(requestFor(1));
    expect(await store.tryAcquire(requestFor(1))).toBeUndefined();
    await expect(store.tryAcquire(requestFor(2))).rejects.toMatchObject({ inUse: 1 });
    expect(await permit!.extend(30_000)).toBe(true);
    expect(await store.inspect(KEY)).toBeDefined();
    expect(await permit!.release()).toBe(true);
    expect(statements).toHaveBeenCalledTimes(6);
    statements.mockRestore();
  });
});

describe('Semaphores in MariaDB, with any settings of its sessions', () => {
  let pool: Pool;
  let store: SqlLockStore;

  beforeAll(() => {
    pool = createPool({ uri: benches.get('MariaDB')!.address, connectionLimit: 1 });
    store = new SqlLockStore({ mysql: pool });
  });

  afterEach(() => pool.query('SET SESSION group_concat_max_len = DEFAULT'));

  afterAll(() => pool.end());

  const remaining = async (key: string) => (await store.inspect(key))?.remaining ?? 0;

  it('grant no permit for which there is no room in the list, and keep all that were granted', async () => {
    await pool.query(`SET SESSION sql_mode = ''`);
    let refused = 0;
    for (let room = 60; room <= 200; room++) {
      await pool.query(`SET SESSION group_concat_max_len = ${room}`);
      const key = `room for ${room}`;
      const leases = [];
      for (let asked = 0; asked < 4; asked++) {
        const lease = await store.tryAcquire({ ...requestFor(3), key, keys: [key] });
        if (lease) leases.push(lease);
      }
      if (leases.length < 3) refused++;
      const { holders } = (await store.inspect(key))!;
      expect([room, leases.length]).toEqual([room, holders!.length]);
      for (const lease of leases) expect(await lease.extend(30_000)).toBe(true);
      expect(leases.length).toBeLessThanOrEqual(3);
    }
    expect(refused).toBeGreaterThan(0);
  });

  it.each(['', 'STRICT_ALL_TABLES', 'SIMULTANEOUS_ASSIGNMENT', 'ORACLE'])(
    'end with the last permit, and are free without one: sql_mode %j',
    async (mode) => {
      await pool.query(`SET SESSION sql_mode = ?`, [mode]);
      const key = `in mode ${mode}`;
      const take = async (ttl: number, permits?: number) =>
        (await store.tryAcquire({ ...requestFor(permits, ttl), key, keys: [key] }))!;
      await take(1);
      const first = await until(() => take(2_000, 3)); // the key had an exclusive holder before
      const second = await take(1_000, 3);
      expect(await remaining(key)).toBeGreaterThan(1_000);
      expect(await second.extend(30_000)).toBe(true);
      expect(await remaining(key)).toBeGreaterThan(20_000);
      expect(await take(1_000)).toBeUndefined();
      await expect(take(1_000, 4)).rejects.toMatchObject({ inUse: 3 });
      expect(await first.extend(10_000)).toBe(true);
      expect(await remaining(key)).toBeGreaterThan(20_000);
      expect(await second.release()).toBe(true);
      expect(await remaining(key)).toBeLessThanOrEqual(10_000);
      expect(await take(1_000)).toBeUndefined();
      expect(await first.release()).toBe(true);
      expect(await first.release()).toBe(false);
      expect(await store.inspect(key)).toBeUndefined();
      const alone = await take(30_000);
      expect(await take(1_000, 3)).toBeUndefined();
      expect(await alone.release()).toBe(true);
    },
  );
});

/** A clock that is a second later whenever it is read stands in front of the server's own. */
it('A permit that ends while PostgreSQL grants it again keeps the line of those who wait', async () => {
  const { address } = benches.get('PostgreSQL')!;
  const pool = openPool(address, { max: 1, options: '-c search_path=fake,public,pg_catalog' });
  await pool.query('CREATE SCHEMA fake');
  await pool.query('CREATE SEQUENCE fake.seconds');
  await pool.query(`CREATE FUNCTION fake.clock_timestamp() RETURNS timestamptz VOLATILE LANGUAGE sql
AS $$ SELECT to_timestamp(1000000000 + nextval('fake.seconds')) $$`);
  const store = new SqlLockStore({ postgres: pool });
  const request = requestFor(2);
  const queue = [['waiter', 'host:1:2', 9e15]];
  const answers = new Set<boolean>();
  for (let end = 1; end <= 8; end++) {
    const sharers = [[request.token, null, (1e9 + end) * 1_000 + 500]];
    await pool.query('DELETE FROM holdfast_locks');
    await pool.query(
      `INSERT INTO holdfast_locks ("key", "token", "fencing", "expires_at", "queue", "permits", "sharers")
VALUES ($1, 'shared', 1, to_timestamp(2000000000), $2, 2, $3)`,
      [Buffer.from(KEY), JSON.stringify(queue), JSON.stringify(sharers)],
    );
    await pool.query(`SELECT setval('fake.seconds', 1)`);
    answers.add((await store.tryAcquire(request)) !== undefined);
    const { rows } = await pool.query('SELECT "queue" FROM holdfast_locks');
    expect([end, rows[0].queue]).toEqual([end, queue]);
  }
  expect(answers).toEqual(new Set([true, false]));
  await pool.query('DROP SCHEMA fake CASCADE');
  await store.close();
  await pool.end();
});
