import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'libsql';
import { LockService } from 'nest-holdfast';
import { SqlLockStore } from 'nest-holdfast/sql';

describe('The health of a file of SQLite', () => {
  let folder: string;
  let own: Database.Database;
  let other: Database.Database;
  let locks: LockService;

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'holdfast-sqlite-'));
    [own, other] = [0, 1].map(() => new Database(join(folder, 'locks.db'))) as [typeof own, typeof own]; // prettier-ignore
    const store = new SqlLockStore({ sqlite: own });
    await store.createTable();
    locks = new LockService(store);
  });

  afterEach(async () => {
    await locks.close();
    own.close();
    other.close();
    await rm(folder, { recursive: true });
  });

  const health = (probe: 'read' | 'lock', timeout = 10_000) => locks.health({ probe, timeout });

  it('is up, by either probe, and leaves nothing', async () => {
    expect(await health('read')).toMatchObject({ status: 'up', store: 'sql', probe: 'read' });
    expect(await health('lock')).toMatchObject({ status: 'up', probe: 'lock' });
    expect((await locks.list()).locks).toEqual([]);
  });

  it('is down in time by a lock while another process writes, and up by a look', async () => {
    other.exec('BEGIN IMMEDIATE');
    const found = await health('lock', 300);
    expect(found).toMatchObject({ status: 'down', reason: expect.any(String) });
    expect(found.duration).toBeLessThan(3_000);
    expect(await health('read')).toMatchObject({ status: 'up' });
    other.exec('ROLLBACK');
    expect(await health('lock')).toMatchObject({ status: 'up' });
  });

  it('is down without its table, by either probe, and names no file', async () => {
    const [{ name }] = own.prepare("SELECT name FROM sqlite_master WHERE type = 'table'").all() as [{ name: string }]; // prettier-ignore
    own.exec(`DROP TABLE ${name}`);
    for (const probe of ['read', 'lock'] as const) {
      const found = await health(probe);
      expect(found).toMatchObject({ status: 'down', reason: 'NO_TABLE' });
      expect(JSON.stringify(found)).not.toContain(folder);
    }
  });

  it('is down by a lock where it may not be written to', async () => {
    own.exec('PRAGMA query_only = 1');
    expect(await health('read')).toMatchObject({ status: 'up' });
    expect(await health('lock')).toMatchObject({ status: 'down', reason: 'READONLY' });
  });
});
