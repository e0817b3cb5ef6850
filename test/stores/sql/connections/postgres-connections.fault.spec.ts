import { randomUUID } from 'node:crypto';
import type { AcquireRequest } from 'nest-holdfast';
import { LockService } from 'nest-holdfast';
import { SqlLockStore } from 'nest-holdfast/sql';
import { Client, type Pool } from 'pg';
import { systemClock } from '../../../../lib/core/async/clock.js';
import { PostgresListener } from '../../../../lib/stores/sql/postgres/postgres-listener.js';
import { PostgresTable } from '../../../../lib/stores/sql/postgres/postgres-table.js';
import type {
  PostgresClient,
  PostgresQuery,
} from '../../../../lib/stores/sql/common/sql-clients.js';
import { inTime } from '../../../support/faults/in-time.js';
import { ChildProcess } from '../../../support/processes/child-process.js';
import { PostgresServer } from '../../../support/servers/postgres-server.js';
import { TcpProxy } from '../../../support/processes/tcp-proxy.js';
import { until } from '../../../support/until.js';
import { openPool } from '../postgres/postgres-pool.js';

const KEY = 'order:42';
const EXTEND = /SET "expires_at"/;
const PASS = /^UPDATE .* SET "token"/;

const requestFor = (key: string): AcquireRequest => ({ key, keys: [key], token: randomUUID(), ttl: 30_000 }); // prettier-ignore

/** A pool that holds one statement back, as a slow connection would, and remembers what was sent. */
class SlowPool implements PostgresClient {
  readonly sent: string[] = [];
  readonly #pool: Pool;
  #slow: { readonly statement: RegExp; readonly arrival: Promise<void> } | undefined;
  #answer: Promise<unknown> | undefined;

  constructor(pool: Pool) {
    this.#pool = pool;
  }

  /** The next statement like this one arrives when the function is called, which resolves when the server has answered. */
  holdBack(statement: RegExp): () => Promise<unknown> {
    let arrive!: () => void;
    this.#slow = { statement, arrival: new Promise((resolve) => (arrive = resolve)) };
    return () => {
      arrive();
      return this.#answer!;
    };
  }

  query(query: PostgresQuery): Promise<{ rows: object[] }> {
    this.sent.push(query.text);
    const slow = this.#slow;
    if (!slow?.statement.test(query.text)) return this.#pool.query(query);
    this.#slow = undefined;
    const answer = slow.arrival.then(() => this.#pool.query(query));
    this.#answer = answer;
    return answer;
  }

  count(statement: RegExp): number {
    return this.sent.filter((text) => statement.test(text)).length;
  }
}

describe('The connections of a store on PostgreSQL', () => {
  let server: PostgresServer;
  let pool: Pool;
  let slow: SlowPool;
  let store: SqlLockStore;

  beforeAll(async () => {
    server = await PostgresServer.start();
    pool = openPool(server.url);
    await new SqlLockStore({ postgres: pool }).createTable();
  });

  beforeEach(async () => {
    await pool.query('TRUNCATE holdfast_locks');
    slow = new SlowPool(pool);
    store = new SqlLockStore({ postgres: slow }, { listen: () => new Client(server.url) });
  });

  afterEach(() => {
    server.resume();
    jest.restoreAllMocks();
  });

  afterAll(async () => {
    await pool.end();
    await server.stop();
  });

  const remaining = async () => (await store.inspect(KEY))!.remaining;

  describe('of which one is slow', () => {
    it('an extension that comes after the lock was handedOff on changes nothing for the next holder', async () => {
      const locks = new LockService(store, { waitTimeout: 20_000 });
      const first = await locks.acquire(KEY, { ttl: 15_000, storeTimeout: 200 });
      const waiting = locks.acquire(KEY, { ttl: 30_000, storeTimeout: 10_000 });
      const apply = slow.holdBack(EXTEND);
      await expect(first.extend(15_000)).rejects.toMatchObject({ code: 'LOCK_STORE_FAILED' });
      const released = first.release();
      const second = await waiting;
      expect([await released, slow.count(PASS)]).toEqual([true, 1]);
      await apply();
      expect(await remaining()).toBeGreaterThan(20_000);
      expect(await second.release()).toBe(true);
      await locks.close();
    });

    it('a hand-off that is applied once more takes nothing from the next holder', async () => {
      const options = { quoted: '"holdfast_locks"', channel: 'x', ddl: '', prepare: false };
      const table = new PostgresTable(pool, options);
      const { token } = requestFor(KEY);
      await table.acquire({ key: KEY, token, holder: undefined, ttl: 15_000, fencingFloor: undefined }); // prettier-ignore
      const handedOff = await table.handOff(KEY, token, 'next', 15_000);
      expect(await table.extend(KEY, 'next', 30_000)).toBe(true);
      expect(await table.handOff(KEY, token, 'next', 15_000)).toEqual(handedOff);
      expect(await remaining()).toBeGreaterThan(20_000);
      expect(await table.release(KEY, token)).toBe(false);
      expect(await table.release(KEY, 'next')).toBe(true);
      expect(await table.handOff(KEY, token, 'next', 15_000)).toBeUndefined();
    });

    it('a longer extension is applied after the shorter ones before it', async () => {
      const lease = (await store.tryAcquire(requestFor(KEY)))!;
      const apply = slow.holdBack(EXTEND);
      const extensions = [lease.extend(10_000), lease.extend(30_000)];
      await pool.query('SELECT 1'); // where both are sent at once, the second one has time to arrive
      await apply();
      expect(await Promise.all(extensions)).toEqual([true, true]);
      expect(await remaining()).toBeGreaterThan(20_000);
      await lease.release();
    });
  });

  it('of which the one that listens is open and dead: it is made anew, while its waiter stays in line', async () => {
    await using proxy = await TcpProxy.start(server.port);
    const listen = () => new Client(server.urlAt(proxy.port));
    const waiter = new SqlLockStore({ postgres: pool }, { listen });
    const lease = (await store.tryAcquire(requestFor(KEY)))!;
    const waiting = waiter.acquire!(requestFor(KEY), new AbortController().signal);
    const listening = () =>
      pool.query(`SELECT pid FROM pg_stat_activity WHERE query LIKE 'LISTEN%'`);
    await until(async () => (await listening()).rows.length === 1, { what: 'it to listen' });
    proxy.replies.drop();
    await until(() => proxy.accepted > 1, { within: 60_000, what: 'another connection' });
    proxy.pass();
    await lease.release();
    expect(await (await inTime(30_000, waiting)).release()).toBe(true);
    await waiter.close();
  });

  it('that are lost together cost one extension', async () => {
    await using proxy = await TcpProxy.start(server.port);
    const remote = openPool(server.urlAt(proxy.port), { max: 8 });
    const counting = new SlowPool(remote);
    const client = Object.assign(Object.create(remote) as Pool, { query: (query: PostgresQuery) => counting.query(query) }); // prettier-ignore
    const locks = new LockService(new SqlLockStore({ postgres: client }), { ttl: 30_000 });
    const seen: string[] = [];
    locks.events.on('jeopardy', () => seen.push('jeopardy'));
    locks.events.on('recovered', () => seen.push('recovered'));
    const lock = await locks.acquire(KEY);
    await Promise.all(Array.from({ length: 8 }, () => remote.query('SELECT pg_sleep(0.05)')));
    expect(remote.idleCount).toBe(8);
    proxy.cutAll();
    await until(() => remote.totalCount === 0);
    await until(() => seen.includes('recovered'));
    expect(await lock.release()).toBe(true);
    expect([seen, counting.count(EXTEND)]).toEqual([['jeopardy', 'recovered'], 1]);
    await locks.close();
    await remote.end();
  });

  describe('for listening', () => {
    const events = { notified: () => {}, missed: () => {} };
    const listenerTo = (url: string) => new PostgresListener(() => new Client(url), 'holdfast_locks', events); // prettier-ignore

    afterEach(() => jest.restoreAllMocks());

    it.each(['before', 'after'])('is closed where the server hung %s it was made', async (when) => {
      const listener = listenerTo(server.url);
      if (when === 'after') await listener.open();
      server.pause();
      if (when === 'before') await listener.open();
      await inTime(3_000, listener.close());
    });

    it('keeps no process alive while the server hangs', async () => {
      server.pause();
      const listening = new ChildProcess('test/stores/sql/postgres/postgres-listener-process.ts', {
        args: [server.url],
      });
      try {
        expect(await inTime(15_000, listening.exited)).toEqual({ code: 0, signal: null });
      } finally {
        await listening.kill();
      }
    });

    it('is given up when the server hangs, and made anew', async () => {
      await using proxy = await TcpProxy.start(server.port);
      const listener = listenerTo(server.urlAt(proxy.port));
      const schedule = systemClock.schedule.bind(systemClock);
      const fast = jest.spyOn(systemClock, 'schedule');
      fast.mockImplementation((ms, ...rest) => schedule(ms / 20, ...rest));
      proxy.replies.drop();
      await listener.open();
      await until(() => proxy.accepted === 1 && proxy.connections === 0);
      jest.restoreAllMocks();
      proxy.pass();
      await listener.open();
      expect(proxy.connections).toBe(1);
      await listener.close();
    });

    it('is asked whether it still answers only after a while', async () => {
      let now = 1_000_000;
      jest.spyOn(systemClock, 'now').mockImplementation(() => now);
      const client = new Client(server.url);
      const query = jest.spyOn(client, 'query');
      const questions = () => query.mock.calls.filter(([text]) => text === 'SELECT 1');
      const listener = new PostgresListener(() => client, 'x', events);
      const opening = [listener.open(), Promise.resolve().then(() => listener.open())];
      await Promise.all(opening);
      expect(questions()).toHaveLength(0);
      now += 5_000;
      await listener.open();
      expect(questions()).toHaveLength(1);
      await listener.close();
    });

    it('is tried again after a function that throws at once', async () => {
      let calls = 0;
      const connect = () => {
        calls += 1;
        if (calls === 1) throw new Error('not yet');
        return new Client(server.url);
      };
      let missed = 0;
      const listener = new PostgresListener(connect, 'x', { ...events, missed: () => missed++ });
      await listener.open();
      expect([calls, missed]).toEqual([1, 0]);
      await listener.open();
      expect([calls, missed]).toEqual([2, 1]);
      await listener.close();
    });
  });
});
