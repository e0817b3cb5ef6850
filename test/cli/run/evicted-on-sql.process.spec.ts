import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'libsql';
import { LockService } from 'nest-holdfast/core';
import { SqlLockStore } from 'nest-holdfast/sql';
import { until } from '../../support/until.js';
import { Holdfast } from '../support/holdfast.js';

it('a command under a lock in a table is killed soon after an eviction, of which no message tells', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'holdfast-sql-'));
  const path = join(folder, 'locks.db');
  const store = new SqlLockStore({ sqlite: new Database(path) });
  await store.createTable();
  const locks = new LockService(store);
  const line = `trap '' TERM; echo up; while :; do sleep 0.05; done`;
  const flags = ['--ttl', '10m']; // the lock itself is extended every few minutes
  await using run = new Holdfast(['run', 'k', ...flags, '--shell', '--', line], {
    env: { HOLDFAST_STORE: `sqlite:${path}` },
  });
  await run.says('up');
  const { fencingToken } = (await locks.inspect('k'))!;
  await locks.evict('k', { fencingToken: fencingToken!, grace: 0 });
  await until(() => !run.isRunning, { within: 60_000 });
  expect(await run.ended).toMatchObject({ code: 70, stderr: expect.stringMatching(/is lost: the command was killed/) }); // prettier-ignore
  await locks.close();
  await rm(folder, { recursive: true });
});
