import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'libsql'; // or better-sqlite3
import { lockStoreConformance } from 'nest-holdfast/testing';
import { TABLE, TableLockStore } from './table-lock.store.js';
import type { Query } from './table-lock.store.js';

const folder = mkdtempSync(join(tmpdir(), 'locks-'));

function createStore() {
  const database = new Database(join(folder, 'locks.db'), { timeout: 5_000 });
  database.exec(TABLE);
  const query: Query = async (sql, ...values) =>
    database.prepare(sql).get(...values) as { fence: string } | undefined;
  return new TableLockStore(query);
}

afterAll(() => rmSync(folder, { recursive: true }));

describe('TableLockStore', () => {
  lockStoreConformance({ test: it, createStore });
});
