import type { LockStore } from 'nest-holdfast';
import { LockService } from 'nest-holdfast';
import { SqlLockStore, type SqlLockStoreOptions } from 'nest-holdfast/sql';
import type { Pool } from 'pg';
import { PostgresTable } from '../../../../lib/stores/sql/postgres/postgres-table.js';
import { PostgresServer } from '../../../support/servers/postgres-server.js';
import { openPool } from './postgres-pool.js';
import { until } from '../../../support/until.js';
import { inTime } from '../../../support/faults/in-time.js';

const KEY = 'order:42';
/** Long enough that no lock of these tests ends by its ttl. */
const TTL = 60_000;

/** A process of an application. */
class Process {
  readonly pool: Pool;
  readonly locks: LockService;
  statements = 0;

  constructor(url: string, options: SqlLockStoreOptions = {}) {
    this.pool = openPool(url, { max: 2 });
    const query = this.pool.query.bind(this.pool) as (query: object) => Promise<never>;
    const counting = Object.assign(Object.create(this.pool) as Pool, {
      query: (text: object) => {
        this.statements++;
        return query(text);
      },
    });
    const store: LockStore = new SqlLockStore({ postgres: counting }, options);
    this.locks = new LockService(store, { ttl: TTL, waitTimeout: 15_000 });
  }

  async end(): Promise<void> {
    await this.locks.close();
    await this.pool.end();
  }
}

describe('Waiting on PostgreSQL', () => {
  let server: PostgresServer;
  let admin: Pool;
  const processes: Process[] = [];

  beforeAll(async () => {
    server = await PostgresServer.shared();
    admin = openPool(server.url, { max: 1 });
    await new SqlLockStore({ postgres: admin }).createTable();
  });

  afterEach(async () => {
    await Promise.all(processes.splice(0).map((process) => process.end()));
    await admin.query('TRUNCATE holdfast_locks');
  });

  afterAll(async () => {
    await admin.end();
    await server.stop();
  });

  function open(options?: SqlLockStoreOptions): Process {
    const process = new Process(server.url, options);
    processes.push(process);
    return process;
  }

  async function standing(): Promise<number> {
    const { rows } = await admin.query('SELECT jsonb_array_length(queue) AS length FROM holdfast_locks'); // prettier-ignore
    return Number(rows[0]?.length ?? 0);
  }

  async function listening(): Promise<number[]> {
    const { rows } = await admin.query(`SELECT pid FROM pg_stat_activity WHERE query LIKE 'LISTEN%'`); // prettier-ignore
    return rows.map(({ pid }) => pid as number);
  }

  it('is served in order over all processes, and each release wakes one', async () => {
    const lock = await open().locks.acquire(KEY);
    const order: number[] = [];
    const waiters = [1, 2, 3, 4, 5].map(() => open());
    const waits: Promise<unknown>[] = [];
    const startedAt = performance.now();
    for (const [index, { locks }] of waiters.entries()) {
      waits.push(locks.withLock(KEY, async () => order.push(index)));
      await until(async () => (await standing()) === index + 1);
    }
    const asked = waiters.map(({ statements }) => statements);
    await lock.release();
    await Promise.all(waits);
    expect(order).toEqual([0, 1, 2, 3, 4]);
    // Each was woken once, and then took the lock and gave it back: a herd would ask at each of the five releases. A beat is a
    // look and at most one sign of life, and one may be under way.
    const beats = Math.ceil((performance.now() - startedAt) / 1_000);
    for (const [index, { statements }] of waiters.entries()) {
      expect(statements - asked[index]!).toBeGreaterThanOrEqual(2);
      expect(statements - asked[index]!).toBeLessThanOrEqual(2 + 2 * beats);
    }
  });

  it('listens on a connection of its own, and only while a caller waits', async () => {
    const holder = open();
    const waiter = open();
    const lock = await holder.locks.acquire(KEY);
    expect(await listening()).toEqual([]);
    const waiting = waiter.locks.acquire(KEY);
    await until(async () => (await listening()).length === 1);
    expect(waiter.pool.totalCount).toBeLessThanOrEqual(2);
    await lock.release();
    await (await waiting).release();
    await until(async () => (await listening()).length === 0, { within: 30_000 });
  });

  it('closes the connection that listens with the store, and leaves the pool open', async () => {
    const holder = open();
    const waiter = open();
    const lock = await holder.locks.acquire(KEY);
    const waiting = waiter.locks.acquire(KEY);
    await until(async () => (await listening()).length === 1);
    const ended = expect(waiting).rejects.toBeDefined();
    await waiter.locks.close();
    await ended;
    await until(async () => (await listening()).length === 0, { within: 30_000 });
    expect((await waiter.pool.query('SELECT 1 AS one')).rows).toEqual([{ one: 1 }]);
    expect(await standing()).toBe(0);
    await lock.release();
  });

  it('has left the queue once its service is closed', async () => {
    const waiter = open();
    const lock = await open().locks.acquire(KEY);
    const ended = expect(waiter.locks.acquire(KEY)).rejects.toBeDefined();
    await until(async () => (await standing()) === 1);
    const blocker = openPool(server.url, { max: 1 });
    await blocker.query(`BEGIN; SELECT 1 FROM "holdfast_locks" FOR UPDATE`);
    let isClosed = false;
    const closing = waiter.locks.close().then(() => (isClosed = true));
    await until(async () => (await listening()).length === 0);
    expect(isClosed).toBe(false);
    await blocker.query('COMMIT');
    await blocker.end();
    await closing;
    expect(await standing()).toBe(0);
    await ended;
    await lock.release();
  });

  it('goes on when the connection that listens is killed', async () => {
    const holder = open();
    const waiter = open();
    const lock = await holder.locks.acquire(KEY);
    const waiting = waiter.locks.acquire(KEY);
    const pid = await until(async () => (await listening())[0]);
    await admin.query('SELECT pg_terminate_backend($1)', [pid]);
    await until(async () => (await listening()).some((other) => other !== pid));
    await lock.release();
    await (await inTime(5_000, waiting)).release();
  });

  it('without any notification, costs a beat and not a ttl', async () => {
    const deaf = {
      connect: async () => {},
      query: async () => {},
      end: async () => {},
      on: () => {},
    };
    const holder = open();
    const waiter = open({ listen: () => deaf });
    const lock = await holder.locks.acquire(KEY);
    const waiting = waiter.locks.acquire(KEY);
    await until(async () => (await standing()) === 1);
    await lock.release();
    await (await inTime(5_000, waiting)).release();
  });

  it('passes over a waiter that died, after its heartbeat', async () => {
    const holder = open();
    const lock = await holder.locks.acquire(KEY);
    const quoted = '"holdfast_locks"';
    const table = new PostgresTable(admin, { quoted, channel: 'x', ddl: '', prepare: false });
    const dead = { key: KEY, token: 'dead', holder: 'dead:1:1', ttl: TTL, fencingFloor: undefined };
    await table.stand(dead);
    const waiting = open().locks.acquire(KEY);
    await until(async () => (await standing()) === 2);
    await lock.release();
    await (await inTime(6_000, waiting)).release();
  });

  it('is not overtaken by callers who would share the key, and gets it with the last permit', async () => {
    const store = new SqlLockStore({ postgres: admin });
    const claim = { key: KEY, holder: 'a:1:1', ttl: TTL, fencingFloor: undefined };
    const ask = (token: string) => store.tryAcquire({ ...claim, keys: [KEY], token, permits: 3 });
    const permits = [await ask('first'), await ask('second')];
    const fencing = async () => BigInt((await admin.query('SELECT fencing FROM holdfast_locks')).rows[0].fencing as string); // prettier-ignore
    const before = await fencing();
    const quoted = '"holdfast_locks"';
    const table = new PostgresTable(admin, { quoted, channel: 'x', ddl: '', prepare: false });
    expect(await table.stand({ ...claim, token: 'waiter' })).toHaveProperty('remaining');
    expect(await ask('third')).toBeUndefined();
    expect(await ask('first')).toBeDefined(); // it has one
    expect(await permits[0]!.release()).toBe(true);
    expect(await table.confirm(KEY, 'waiter', TTL)).toBeUndefined();
    expect(await permits[1]!.release()).toBe(true);
    expect(await table.confirm(KEY, 'waiter', TTL)).toBe(await fencing());
    expect(await fencing()).toBeGreaterThan(before);
    expect(await ask('third')).toBeUndefined();
  });

  it('is woken by the last permit that is given back', async () => {
    const sharers = open();
    const permits = [1, 2].map(() => sharers.locks.acquire(KEY, { permits: 3 }));
    const [first, second] = await Promise.all(permits);
    const waiter = open();
    const waiting = waiter.locks.acquire(KEY);
    await until(async () => (await standing()) === 1 && (await listening()).length === 1);
    await first!.release();
    const late = sharers.locks.acquire(KEY, { permits: 3 });
    await second!.release();
    const lock = await inTime(5_000, waiting);
    expect((await sharers.locks.inspect(KEY))!.fencingToken).toBe(lock.fencingToken);
    await lock.release();
    await (await inTime(5_000, late)).release();
  });

  it('lets other processes in after nine grants in a row', async () => {
    const greedy = open();
    const modest = open();
    const order: string[] = [];
    const enter = (locks: LockService, name: string) => locks.withLock(KEY, async () => void order.push(name)); // prettier-ignore
    const lock = await greedy.locks.acquire(KEY);
    const others = Array.from({ length: 30 }, () => enter(greedy.locks, 'greedy'));
    const one = enter(modest.locks, 'modest');
    await until(async () => (await standing()) === 1);
    await lock.release();
    await Promise.all([one, ...others]);
    expect(order).toHaveLength(31);
    expect(order.indexOf('modest')).toBeLessThanOrEqual(9);
  });

  it('asks for each lock again at once when an idle connection was lost', async () => {
    const { locks } = open();
    const seen: string[] = [];
    const lock = await locks.acquire(KEY);
    for (const name of ['jeopardy', 'recovered', 'lost'] as const)
      locks.events.on(name, () => seen.push(name));
    await admin.query(
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE 'INSERT INTO "holdfast_locks"%' AND pid <> pg_backend_pid()`,
    );
    await until(() => seen.includes('recovered'));
    expect(seen).toEqual(['jeopardy', 'recovered']);
    expect(await lock.release()).toBe(true);
  });

  it('leaves nothing behind when it is cancelled, also when it was just handed the key', async () => {
    const holder = open();
    const waiter = open();
    for (let round = 0; round < 10; round++) {
      const lock = await holder.locks.acquire(KEY);
      const cancel = new AbortController();
      const waiting = waiter.locks.acquire(KEY, { signal: cancel.signal });
      const ended = waiting.then((taken) => taken.release(), () => {}); // prettier-ignore
      await until(async () => (await standing()) === 1);
      const released = lock.release();
      await new Promise((resolve) => setTimeout(resolve, round));
      cancel.abort();
      await Promise.all([released, ended]);
      await until(async () => (await holder.locks.inspect(KEY)) === undefined);
    }
  });
});
