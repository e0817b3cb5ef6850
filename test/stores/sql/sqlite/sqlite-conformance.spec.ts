import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'libsql';
import { lockStoreConformance } from 'nest-holdfast/testing';
import { type SqliteClient, SqlLockStore } from 'nest-holdfast/sql';
import { LACKED_BY_TABLES } from '../lacked-by-tables.js';

type OpenFile = (path: string) => SqliteClient & { close(): void };

/** Node has it from version 22.5 on. */
const builtIn = process.getBuiltinModule?.('node:sqlite') as
  { readonly DatabaseSync: new (path: string) => ReturnType<OpenFile> } | undefined;

const DRIVERS: [string, OpenFile][] = [['libsql', (path) => new Database(path)]];
if (builtIn) DRIVERS.push(['node:sqlite', (path) => new builtIn.DatabaseSync(path)]);

describe.each(DRIVERS)('SqlLockStore on SQLite with %s', (_, open) => {
  let folder: string;
  let databases: ReturnType<OpenFile>[];
  let opened = 0;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'holdfast-sqlite-'));
    databases = [0, 1].map(() => open(join(folder, 'locks.db')));
    await new SqlLockStore({ sqlite: databases[0]! }).createTable();
  });

  afterAll(async () => {
    for (const database of databases) database.close();
    await rm(folder, { recursive: true });
  });

  lockStoreConformance({
    test: it,
    lacks: [...LACKED_BY_TABLES, 'queue', 'handOff'],
    createStore: () => new SqlLockStore({ sqlite: databases[opened++ % 2]! }),
  });
});
