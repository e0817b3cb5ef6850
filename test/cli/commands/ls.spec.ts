import { spawnSync } from 'node:child_process';
import { Redis } from 'ioredis';
import { LockService, RedisLockStore } from 'nest-holdfast/core';
import { RedisServer } from '../../support/servers/redis-server.js';
import { until } from '../../support/until.js';
import { builtCli } from '../support/built-cli.js';
import { Holdfast, holdfast, objectsOf } from '../support/holdfast.js';

describe('holdfast ls, inspect and wait', () => {
  let server: RedisServer;
  let client: Redis;
  let locks: LockService;
  let env: Record<string, string>;

  beforeAll(async () => {
    server = await RedisServer.shared();
    client = new Redis(server.url);
    locks = new LockService(new RedisLockStore(client));
    env = { HOLDFAST_STORE: server.url };
  });
  afterAll(async () => {
    await locks.close();
    await client.quit();
  });

  it.each([[], ['--watch'], ['--json', '--watch']])(
    'ls %s ends in silence when its reader leaves',
    async (...flags) => {
      const lock = await locks.acquire('ls:left');
      await using run = new Holdfast(['ls', 'ls:left', ...flags], { env });
      run.leave('stdout');
      expect(await run.ended).toMatchObject({ code: 0, stderr: '' });
      await lock.release();
    },
  );

  it('ls says that a full disk has cut its output off', async () => {
    const lock = await locks.acquire('ls:cut');
    const program = `"${process.execPath}" "${builtCli()}" ls ls:cut --store ${server.url} > /dev/full`;
    const { status, stderr } = spawnSync('sh', ['-c', program], { encoding: 'utf8' });
    expect({ status, stderr }).toEqual({
      status: 70,
      stderr: expect.stringMatching(/^holdfast: the output is not whole: ENOSPC.*\n$/),
    });
    await lock.release();
  });

  it('ls lists the held keys, as a table or as one object per line', async () => {
    await using lock = await locks.acquire('ls:order:42');
    await locks.acquire('ls:report', { mode: 'read' });

    const table = await holdfast(['ls', 'ls:*'], { env });
    expect(table).toMatchObject({ code: 0, stderr: '' });
    expect(table.stdout).toMatch(/^KEY +HOLDER +HELD FOR +REMAINING +TOKEN +WAITING\n/);
    expect(table.stdout).toMatch(
      new RegExp(`ls:order:42 .*:${process.pid}:.* ${lock.fencingToken}`),
    );
    expect(table.stdout).not.toContain('\u001b');

    const { stdout } = await holdfast(['ls', 'ls:*', '--json'], { env });
    const found = objectsOf(stdout).toSorted((a, b) =>
      String(a['key']).localeCompare(String(b['key'])),
    );
    expect(found).toMatchObject([
      { key: 'ls:order:42', fencingToken: String(lock.fencingToken) },
      { key: 'ls:report', permits: 'Infinity' },
    ]);
  });

  it('ls --count tells how many there are, and nothing else', async () => {
    const count = async (...flags: string[]) =>
      (await holdfast(['ls', 'count:*', '--count', ...flags], { env })).stdout;
    expect(await count()).toBe('0\n');
    await Promise.all(['count:1', 'count:2'].map((key) => locks.acquire(key)));
    expect(await count()).toBe('2\n');
    expect(await count('--json')).toBe('{"count":2}\n');
    expect(await count('--limit', '1')).toBe('1\n');
  });

  it('ls keeps to the pattern, the age, the holder and the limit', async () => {
    await locks.acquire('keep:1');
    await locks.acquire('keep:2');
    const keys = async (...flags: string[]) => {
      const { stdout } = await holdfast(['ls', 'keep:*', '--json', ...flags], { env });
      return objectsOf(stdout).length;
    };
    expect(await keys()).toBe(2);
    expect(await keys('--limit', '1')).toBe(1);
    expect(await keys('--older-than', '1h')).toBe(0);
    expect(await keys('--holder', 'nobody')).toBe(0);
    const { holder } = (await locks.inspect('keep:1'))!;
    expect(await keys('--holder', holder!.split(':')[0]!)).toBe(2);
  });

  it('ls says that it has left keys out, for its limit', async () => {
    await Promise.all(['cut:1', 'cut:2'].map((key) => locks.acquire(key)));
    const cut = await holdfast(['ls', 'cut:*', '--limit', '1'], { env });
    expect(cut.stderr).toMatch(/^holdfast: there are more: only 1 is listed, see --limit\n$/);
    const whole = await holdfast(['ls', 'cut:*', '--limit', '2'], { env });
    expect(whole.stderr).toBe('');
  });

  it('ls --waiters names the processes that wait', async () => {
    await locks.acquire('awaited');
    const others = new LockService(new RedisLockStore(client));
    const waiting = others.acquire('awaited', { waitTimeout: Infinity });
    await until(async () => ((await locks.inspect('awaited'))?.waiterCount ?? 0) > 0);
    const { stdout } = await holdfast(['ls', 'awaited', '--waiters'], { env });
    expect(stdout).toMatch(/waits: \S+:\d+:\d+/);
    await others.close();
    await expect(waiting).rejects.toThrow();
  });

  it('ls --watch lists again, and off a terminal below what it listed', async () => {
    await locks.acquire('watched');
    await using watching = new Holdfast(['ls', 'watched', '--watch', '--json'], { env });
    await until(() => objectsOf(watching.stdout).length >= 2, { within: 60_000 });
    expect(watching.stdout).not.toContain('\u001b');
    watching.kill('SIGINT');
    expect((await watching.ended).signal).toBe('SIGINT');
  });

  it('inspect exits with 0 for a held key and with 1 for a free one', async () => {
    await using lock = await locks.acquire('inspected');
    const held = await holdfast(['inspect', 'inspected', '--json'], { env });
    expect(held.code).toBe(0);
    expect(objectsOf(held.stdout)).toMatchObject([
      { key: 'inspected', held: true, fencingToken: String(lock.fencingToken) },
    ]);
    const text = await holdfast(['inspect', 'inspected'], { env });
    expect(text.stdout).toMatch(/^key +inspected\nholder +\S+:\d+:\d+\n/);

    const free = await holdfast(['inspect', 'nobody-has-it'], { env });
    expect(free).toMatchObject({ code: 1, stdout: 'nobody-has-it is free\n', stderr: '' });
  });

  it('wait exits with 0 when the key becomes free, and with 1 when it does not', async () => {
    const lock = await locks.acquire('waited');
    const late = await holdfast(['wait', 'waited', '--wait', '10ms'], { env });
    expect(late).toMatchObject({ code: 1, stdout: 'waited is still held\n' });

    await using waiting = new Holdfast(['wait', 'waited'], { env });
    await lock.release();
    expect(await waiting.ended).toMatchObject({ code: 0, stdout: 'waited is free\n' });
  });

  it('prints no control character of a key', async () => {
    await locks.acquire('odd:\u001b[31m\nkey');
    const { stdout } = await holdfast(['ls', 'odd:*'], { env });
    expect(stdout).toContain('odd:\\u001b[31m\\u000akey');
  });
});
