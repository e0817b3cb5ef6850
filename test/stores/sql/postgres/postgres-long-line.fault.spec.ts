import { randomUUID } from 'node:crypto';
import { setMaxListeners } from 'node:events';
import type { AcquireRequest, Lease } from 'nest-holdfast';
import { SqlLockStore } from 'nest-holdfast/sql';
import type { Pool } from 'pg';
import { PostgresTable } from '../../../../lib/stores/sql/postgres/postgres-table.js';
import { inTime } from '../../../support/faults/in-time.js';
import { PostgresServer } from '../../../support/servers/postgres-server.js';
import { until } from '../../../support/until.js';
import { openPool } from './postgres-pool.js';

const KEY = 'order:42';
/** Milliseconds for which the log is watched. */
const WATCHED = 10_000;

const request = (): AcquireRequest => ({ key: KEY, keys: [KEY], token: randomUUID(), holder: 'host-of-a-pod:12345:1795376271527', ttl: 120_000 }); // prettier-ignore

describe('A long line on PostgreSQL', () => {
  let server: PostgresServer;
  let pool: Pool;
  let store: SqlLockStore;
  let holder: Lease;
  let end: AbortController;

  beforeAll(async () => {
    server = await PostgresServer.shared();
    pool = openPool(server.url, { max: 10 });
    await new SqlLockStore({ postgres: pool }).createTable();
  });

  beforeEach(async () => {
    store = new SqlLockStore({ postgres: pool });
    end = new AbortController();
    setMaxListeners(0, end.signal);
    holder = (await store.tryAcquire(request()))!;
  });

  afterEach(async () => {
    await store.close();
    await pool.query('TRUNCATE holdfast_locks');
  });

  afterAll(async () => {
    await pool.end();
    await server.stop();
  });

  async function standing(count: number): Promise<void> {
    const isMet = async () => {
      const { rows } = await pool.query('SELECT jsonb_array_length(queue) AS length FROM holdfast_locks'); // prettier-ignore
      return rows[0]?.length === count;
    };
    await until(isMet, { what: `${count} in line` });
  }

  /** `together`: so many come at once, in any order. */
  async function line(count: number, together = 1): Promise<Promise<Lease | undefined>[]> {
    const waits: Promise<Lease | undefined>[] = [];
    for (let index = 0; index < count; index++) {
      waits.push(store.acquire!(request(), end.signal).catch(() => undefined));
      if (waits.length % together === 0) await standing(waits.length);
    }
    await standing(count);
    return waits;
  }

  /** Stand once, and are never heard of again. */
  async function dead(count: number): Promise<void> {
    const quoted = '"holdfast_locks"';
    const table = new PostgresTable(pool, { quoted, channel: 'x', ddl: '', prepare: false });
    const claim = { key: KEY, holder: 'dead:1:1', ttl: 60_000, fencingFloor: undefined };
    for (let index = 0; index < count; index++) await table.stand({ ...claim, token: `${index}` });
  }

  async function position(): Promise<string> {
    return (await pool.query('SELECT pg_current_wal_lsn() AS at')).rows[0].at as string;
  }

  it('of 150 writes at most 100 kB of log a second', async () => {
    const waits = await line(150, 10);
    await new Promise((resolve) => setTimeout(resolve, 2_000)); // callers that came while the line was short are in it again
    const [startedAt, from] = [performance.now(), await position()];
    await new Promise((resolve) => setTimeout(resolve, WATCHED));
    const { rows } = await pool.query('SELECT pg_wal_lsn_diff(pg_current_wal_lsn(), $1) AS bytes', [from]); // prettier-ignore
    expect(Number(rows[0].bytes) / (performance.now() - startedAt)).toBeLessThan(100); // kB/s
    end.abort(new Error('enough'));
    expect(await Promise.all(waits)).toEqual(Array(150).fill(undefined));
    await standing(0);
    expect(await holder.release()).toBe(true);
  });

  it('is served in order, and by notifications', async () => {
    const order: number[] = [];
    const waits = await line(40);
    const served = waits.map(async (wait, index) => {
      const lease = await wait;
      order.push(index);
      await lease!.release();
    });
    await holder.release();
    await Promise.all(served);
    expect(order).toEqual(Array.from({ length: 40 }, (_, index) => index));
  });

  it('of dead ones is passed over at once, and not when the time is over that each of them had', async () => {
    await dead(200); // the last ones have more than a minute
    const alive = request();
    const wait = store.acquire!(alive, end.signal);
    const stands = () => pool.query('SELECT 1 FROM holdfast_locks WHERE queue::text LIKE $1', [`%${alive.token}%`]); // prettier-ignore
    await until(async () => (await stands()).rows.length === 1, { what: 'the living one in line' });
    await holder.release();
    const lease = await inTime(30_000, wait);
    expect(await lease.release()).toBe(true);
  });

  it('of dead ones keeps no caller for long from a key that is free', async () => {
    await dead(200);
    await holder.release();
    const taken = async () => store.tryAcquire(request());
    const lease = await until(taken, { within: 30_000 });
    expect(await lease.release()).toBe(true);
  });
});
