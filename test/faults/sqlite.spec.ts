import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'libsql';
import { LockService } from 'nest-holdfast';
import { SqlLockStore } from 'nest-holdfast/sql';
import { ChildProcess } from '../support/child-process.js';
import { inTime } from './in-time.js';
import type { Answer, Order } from './sqlite-process.js';

jest.setTimeout(30_000);

const TTL = 900;
const KEY = 'order:42';

describe('Processes that share a file of SQLite', () => {
  let folder: string;
  let path: string;
  let database: Database.Database;
  let locks: LockService;
  const processes: ChildProcess<Order, Answer>[] = [];

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'holdfast-sqlite-'));
    path = join(folder, 'locks.db');
    database = new Database(path);
    const store = new SqlLockStore({ sqlite: database });
    await store.createTable();
    locks = new LockService(store, { ttl: TTL, waitTimeout: 10_000, retryDelay: 20 });
  });

  afterEach(async () => {
    await Promise.all(processes.splice(0).map((process) => process.kill()));
    await locks.close();
    database.close();
    await rm(folder, { recursive: true });
  });

  function open(): ChildProcess<Order, Answer> {
    const process = new ChildProcess<Order, Answer>('test/faults/sqlite-process.ts', {
      args: [path, String(TTL)],
    });
    processes.push(process);
    return process;
  }

  it('the holder killed: its key is free after its ttl', async () => {
    const holder = open();
    holder.send({ hold: KEY });
    expect(await holder.next()).toBe('held');
    const waiting = locks.acquire(KEY);
    await holder.kill();
    await (await inTime(TTL + 2_000, waiting)).release();
  });

  it('the holder hung for longer than its ttl: it is told, and the token of the next one is larger', async () => {
    const holder = open();
    holder.send({ hold: KEY });
    expect(await holder.next()).toBe('held');
    const { fencingToken } = (await locks.inspect(KEY))!;
    holder.pause();
    const lock = await locks.acquire(KEY);
    holder.resume();
    expect(await holder.next()).toBe('lost');
    expect(lock.isHeld).toBe(true);
    expect(lock.fencingToken).toBeGreaterThan(fencingToken!);
    expect(await lock.release()).toBe(true);
  });

  it('four of them count right', async () => {
    const file = join(folder, 'count');
    await writeFile(file, '0');
    const all = [open(), open(), open(), open()];
    for (const each of all) each.send({ count: 20, file });
    await Promise.all(all.map((each) => each.received((answer) => answer === 'counted')));
    expect(await readFile(file, 'utf8')).toBe('80');
  });
});
