import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { cp } from 'node:fs/promises';
import { freePort } from '../../support/processes/free-port.js';
import { RedisServer } from '../../support/servers/redis-server.js';
import { builtCli } from '../support/built-cli.js';
import { holdfast } from '../support/holdfast.js';
import { execFile } from 'node:child_process';

const SECRET = 's3cret-Pa55';

/** The one line that says what to do. */
async function errorOf(...args: string[]): Promise<{ code: number | null; line: string }> {
  const { code, stdout, stderr } = await holdfast(args);
  expect(stdout).toBe('');
  expect(stderr.split('\n')).toHaveLength(2);
  expect(stderr).toMatch(/^holdfast: /);
  expect(stderr).not.toContain(SECRET);
  return { code, line: stderr };
}

describe('a store that cannot be used', () => {
  it('is named when it is missing, and its URL is not repeated when it is wrong', async () => {
    const missing = await errorOf('ls');
    expect(missing).toMatchObject({ code: 64, line: expect.stringContaining('--store redis://') });
    const urls = [
      `mongodb://u:${SECRET}@host`,
      `redis://u:${SECRET}/x@host:1`,
      `redis://u:${SECRET}%zz@`,
      `redis://u:${SECRET}%zz@127.0.0.1:1`,
      `redis://u:${SECRET}@127.0.0.1:1/shop`,
      `mysql://u:${SECRET}%zz@127.0.0.1:1/x`,
      `zookeeper://u:${SECRET}@127.0.0.1:65536`,
      `postgres://u:${SECRET}#@host/x`,
      `etcd://u:%zz${SECRET}@host:2379`,
      `zookeeper://u:${SECRET}%zz@host:2181`,
      `redlock:redis://u:${SECRET}@host`,
      SECRET,
    ];
    for (const url of urls) expect(await errorOf('ls', '--store', url)).toMatchObject({ code: 64 });
    expect(await errorOf('ls', `--stroe=redis://u:${SECRET}@host`)).toMatchObject({ code: 64 });
  });

  it('is down: exit code 69, and no password', async () => {
    const port = await freePort();
    const urls = [
      `redis://u:${SECRET}@127.0.0.1:${port}`,
      `postgres://u:${SECRET}@127.0.0.1:${port}/x`,
      `mysql://u:${SECRET}@127.0.0.1:${port}/x`,
      `etcd://u:${SECRET}@127.0.0.1:${port}`,
    ];
    const failed = await Promise.all(urls.map((url) => errorOf('ls', '--store', url)));
    for (const each of failed)
      expect(each).toMatchObject({ code: 69, line: expect.stringMatching(/holdfast doctor/) });
  });

  it('has no such database: exit code 69, with the answer of the server', async () => {
    await using server = await RedisServer.start();
    const failed = await errorOf('ls', '--store', `${server.url}/99`);
    expect(failed).toMatchObject({
      code: 69,
      line: expect.stringMatching(/DB index is out of range/),
    });
  });

  it('has no table of locks: exit code 69, and the doctor says so, too', async () => {
    for (const command of ['ls', 'doctor']) {
      const { code, stdout, stderr } = await holdfast([command, '--store', 'sqlite::memory:']);
      expect([command, code]).toEqual([command, 69]);
      expect(stdout + stderr).toMatch(/the table of the locks is missing: .*no such table/);
    }
  });

  it('is a file that cannot be opened: exit code 69, and which', async () => {
    expect(await errorOf('ls', '--store', 'sqlite:/no/such/folder/locks.db')).toMatchObject({
      code: 69,
      line: expect.stringContaining('"/no/such/folder/locks.db" cannot be opened'),
    });
  });

  it('needs a client that is not installed: the line says which', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'holdfast-alone-'));
    const program = join(folder, 'holdfast.mjs');
    await cp(builtCli(), program);
    for (const [url, client] of [
      ['redis://host', 'ioredis'],
      ['postgres://host/x', 'pg'],
      ['mysql://host/x', 'mysql2'],
      ['sqlite:x.db', 'better-sqlite3'],
      ['etcd://host', 'etcd3'],
      ['zookeeper://host', 'node-zookeeper-client'],
    ]) {
      const run = await new Promise<{ code: unknown; stderr: string }>((resolve) =>
        execFile(
          process.execPath,
          [program, 'ls', '--store', url!],
          { cwd: folder },
          (error, _, stderr) => resolve({ code: error?.code, stderr }),
        ),
      );
      expect(run.code).toBe(64);
      expect(run.stderr).toMatch(
        new RegExp(`^holdfast: .*npm install nest-holdfast ${client}.*\n$`),
      );
    }
    await rm(folder, { recursive: true });
  });
});
