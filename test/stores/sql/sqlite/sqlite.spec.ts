import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'libsql';
import { type AcquireRequest, LockService } from 'nest-holdfast';
import { SqlLockStore } from 'nest-holdfast/sql';
import { SqliteTable } from '../../../../lib/stores/sql/sqlite/sqlite-table.js';
import { inTime } from '../../../support/faults/in-time.js';
import { until } from '../../../support/until.js';

const KEY = 'order:42';

const requestFor = (key: string): AcquireRequest => ({ key, keys: [key], token: randomUUID(), ttl: 30_000 }); // prettier-ignore

describe('SqlLockStore on a file of SQLite', () => {
  let folder: string;
  let own: Database.Database;
  let other: Database.Database;
  let store: SqlLockStore;
  let locks: LockService;

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'holdfast-sqlite-'));
    [own, other] = [0, 1].map(() => new Database(join(folder, 'locks.db'))) as [typeof own, typeof own]; // prettier-ignore
    store = new SqlLockStore({ sqlite: own });
    await store.createTable();
    locks = new LockService(store, { ttl: 30_000, waitTimeout: 4_000 });
  });

  afterEach(async () => {
    await locks.close();
    own.close();
    other.close();
    await rm(folder, { recursive: true });
  });

  function pragma(name: string): unknown {
    return Object.values(own.prepare(`PRAGMA ${name}`).all()[0] as object)[0];
  }

  it('sets WAL, and leaves the busy_timeout of the connection as it was', async () => {
    expect(pragma('journal_mode')).toBe('wal');
    own.exec('PRAGMA busy_timeout = 1234');
    await (await locks.acquire(KEY)).release();
    expect(pragma('busy_timeout')).toBe(1234);
  });

  it('waits for the end of a foreign write without blocking the event loop', async () => {
    own.exec('PRAGMA busy_timeout = 3000'); // this long, SQLite itself would block the COMMIT below
    other.exec('BEGIN IMMEDIATE');
    const asked = jest.spyOn(own, 'exec');
    const acquiring = locks.acquire(KEY);
    const attempts = () => asked.mock.calls.filter(([sql]) => sql === 'BEGIN IMMEDIATE').length;
    await until(() => attempts() > 1);
    other.exec('COMMIT');
    await (await inTime(20_000, acquiring)).release();
  });

  it('rejects when a foreign write takes longer than the storeTimeout, and leaves nothing behind', async () => {
    other.exec('BEGIN IMMEDIATE');
    const refused = locks.acquire(KEY, { storeTimeout: 100 });
    await expect(refused).rejects.toMatchObject({ code: 'LOCK_STORE_FAILED' });
    other.exec('COMMIT');
    await (await inTime(20_000, locks.acquire(KEY))).release();
  });

  it('takes no lock inside a transaction of the caller, which could be rolled back', async () => {
    own.exec('BEGIN');
    const acquiring = locks.acquire(KEY);
    await new Promise((resolve) => setTimeout(resolve, 50));
    own.exec('ROLLBACK');
    const lock = await inTime(20_000, acquiring);
    expect(other.prepare('SELECT key FROM holdfast_locks WHERE token IS NOT NULL').all()).toEqual([{ key: KEY }]); // prettier-ignore
    await lock.release();
  });

  it.each(['deleted', 'deleted and made anew'])(
    'loses its locks when the file is %s, and takes no more',
    async (how) => {
      const file = join(folder, 'locks.db');
      const short = new LockService(store, { ttl: 300 });
      const lock = await short.acquire(KEY);
      for (const end of ['', '-wal', '-shm']) await rm(file + end, { force: true });
      if (how !== 'deleted') {
        const anew = new Database(file);
        const theirs = new SqlLockStore({ sqlite: anew });
        await theirs.createTable();
        expect(await theirs.tryAcquire(requestFor(KEY))).toBeDefined();
        anew.close();
      }
      await until(() => !lock.isHeld);
      const refusal = { code: 'LOCK_STORE_FAILED', message: expect.stringContaining('replaced') };
      await expect(locks.acquire(KEY)).rejects.toMatchObject(refusal);
      await expect(locks.inspect(KEY)).rejects.toMatchObject(refusal);
      await short.close();
    },
  );

  it('looks at no file where there is none', async () => {
    const inMemory = new SqlLockStore({ sqlite: new Database(':memory:') });
    await inMemory.createTable();
    const lease = (await inMemory.tryAcquire(requestFor(KEY)))!;
    expect(await lease.release()).toBe(true);
  });

  it('says so when the database takes no writes, or has no table', async () => {
    own.exec('PRAGMA query_only = 1');
    await expect(locks.acquire(KEY)).rejects.toMatchObject({
      code: 'LOCK_STORE_FAILED',
      message: expect.stringContaining('takes no writes'),
    });
    own.exec('PRAGMA query_only = 0');
    const missing = new SqlLockStore({ sqlite: own }, { table: 'missing' });
    await expect(missing.inspect(KEY)).rejects.toThrow('createTable()');
  });

  it('rejects when the database was closed', async () => {
    const lock = await locks.acquire(KEY);
    own.close();
    expect(await lock.release()).toBe(false);
    await expect(locks.acquire(KEY)).rejects.toMatchObject({
      code: 'LOCK_STORE_FAILED',
      message: expect.stringContaining('the database is closed'),
    });
    own = new Database(join(folder, 'locks.db'));
  });

  it('leaves the database open when it is closed itself', async () => {
    await locks.acquire(KEY);
    await locks.close();
    expect(own.prepare('SELECT token FROM holdfast_locks').all()).toEqual([{ token: null }]);
  });

  describe('with a driver that does not tell of transactions', () => {
    let failing: RegExp | undefined;
    let blind: SqlLockStore;

    beforeEach(() => {
      failing = undefined;
      const database = own;
      blind = new SqlLockStore({
        sqlite: {
          prepare: (sql) => database.prepare(sql),
          exec: (sql) => {
            if (failing?.test(sql)) throw new Error(`${sql} failed`);
            return database.exec(sql);
          },
          get open() {
            return database.open;
          },
        },
      });
    });

    /** Fails where a transaction was left open. */
    const write = () => other.exec('BEGIN IMMEDIATE; COMMIT');

    it('a statement that fails leaves the file free', async () => {
      own.exec(`CREATE TRIGGER refuse BEFORE INSERT ON holdfast_locks BEGIN SELECT RAISE(ABORT, 'refused'); END`); // prettier-ignore
      await expect(blind.tryAcquire(requestFor(KEY))).rejects.toThrow('refused');
      write();
      own.exec('DROP TRIGGER refuse');
      const lease = await blind.tryAcquire(requestFor(KEY));
      expect(await lease!.release()).toBe(true);
    });

    it('a COMMIT that fails leaves the file and the key free', async () => {
      failing = /^COMMIT/;
      await expect(blind.tryAcquire(requestFor(KEY))).rejects.toThrow('COMMIT failed');
      write();
      failing = undefined;
      expect(await store.inspect(KEY)).toBeUndefined();
    });

    it('the first error is the one that is told', async () => {
      failing = /^(COMMIT|ROLLBACK)/;
      await expect(blind.tryAcquire(requestFor(KEY))).rejects.toThrow('COMMIT failed');
      own.exec('ROLLBACK');
    });

    it('a transaction of the caller is not ended', async () => {
      own.exec('BEGIN');
      await expect(blind.tryAcquire(requestFor(KEY))).rejects.toThrow('within a transaction');
      expect(own.inTransaction).toBe(true);
      own.exec('ROLLBACK');
    });
  });

  it('removes rows that have been free for a day, unless their tokens are ahead of the clock', async () => {
    for (const key of ['old', 'held', 'new', 'ahead']) await (await locks.acquire(key)).release();
    const held = await locks.acquire('held');
    other.exec(`UPDATE holdfast_locks SET expires_at = expires_at - 86400001 WHERE key IN ('old', 'ahead')`); // prettier-ignore
    other.exec(`UPDATE holdfast_locks SET fencing = fencing + 86400000000 WHERE key = 'ahead'`);
    expect(await new SqliteTable(own, '"holdfast_locks"', '').sweep(10)).toBe(1);
    const rows = other.prepare('SELECT key FROM holdfast_locks ORDER BY key').all();
    expect(rows).toEqual([{ key: 'ahead' }, { key: 'held' }, { key: 'new' }]);
    await held.release();
  });
});
