import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'libsql';
import { LockService } from 'nest-holdfast';
import { SqlLockStore } from 'nest-holdfast/sql';
import { ChildProcess } from '../../../support/processes/child-process.js';
import { inTime } from '../../../support/faults/in-time.js';
import type { Answer, Order } from '../../../support/faults/sqlite-process.js';

/** A machine that stands still for two seconds loses no lock. */
const TTL = 4_000;

describe('Processes that share a file of SQLite', () => {
  let folder: string;
  let database: Database.Database;
  let locks: LockService;
  let processes: ChildProcess<Order, Answer>[] = [];

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'holdfast-sqlite-'));
    const path = join(folder, 'locks.db');
    database = new Database(path);
    const store = new SqlLockStore({ sqlite: database });
    await store.createTable();
    locks = new LockService(store, { ttl: TTL, waitTimeout: 20_000, retryDelay: 20 });
    const args = [path, String(TTL)];
    processes = [1, 2, 3, 4].map(
      () => new ChildProcess('test/support/faults/sqlite-process.ts', { args }),
    );
    for (const each of processes) await each.received((answer) => answer === 'ready');
  });

  afterAll(async () => {
    await Promise.all(processes.map((process) => process.kill()));
    await locks.close();
    database.close();
    await rm(folder, { recursive: true });
  });

  async function holds(index: number, key: string): Promise<ChildProcess<Order, Answer>> {
    const holder = processes[index]!;
    holder.send({ hold: key });
    await holder.received((answer) => answer === 'held');
    return holder;
  }

  it('four of them count right', async () => {
    const file = join(folder, 'count');
    await writeFile(file, '0');
    for (const each of processes) each.send({ count: 20, file });
    await Promise.all(processes.map((each) => each.received((answer) => answer === 'counted')));
    expect(await readFile(file, 'utf8')).toBe('80');
  });

  it('the holder hung for longer than its ttl: it is told, and the token of the next one is larger', async () => {
    const holder = await holds(0, 'order:42');
    const { fencingToken } = (await locks.inspect('order:42'))!;
    holder.pause();
    const lock = await locks.acquire('order:42');
    holder.resume();
    await holder.received((answer) => answer === 'lost');
    expect(lock.isHeld).toBe(true);
    expect(lock.fencingToken).toBeGreaterThan(fencingToken!);
    expect(await lock.release()).toBe(true);
  });

  it('the holder killed: its key is free after its ttl', async () => {
    const holder = await holds(1, 'order:43');
    const waiting = locks.acquire('order:43');
    await holder.kill();
    await (await inTime(TTL + 6_000, waiting)).release();
  });
});
