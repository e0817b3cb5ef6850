import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { LockService, RedisLockStore } from 'nest-holdfast/core';
import { RedisFencingGate } from 'nest-holdfast/fencing';
import { freePort } from '../../support/processes/free-port.js';
import { RedisServer } from '../../support/servers/redis-server.js';
import { Holdfast, holdfast, objectsOf } from '../support/holdfast.js';

describe('holdfast release, doctor and dashboard', () => {
  let server: RedisServer;
  let client: Redis;
  let locks: LockService;
  let folder: string;
  let env: Record<string, string>;

  beforeAll(async () => {
    server = await RedisServer.shared();
    client = new Redis(server.url);
    locks = new LockService(new RedisLockStore(client));
    folder = await mkdtemp(join(tmpdir(), 'holdfast-operate-'));
    env = { HOLDFAST_STORE: server.url };
  });
  afterAll(async () => {
    await locks.close();
    await client.quit();
    await rm(folder, { recursive: true, force: true });
  });

  it('release takes the key, leaves the new token at the gate, and writes the audit', async () => {
    const lock = await locks.acquire('stuck');
    const auditFile = join(folder, 'audit.jsonl');
    const flags = ['--force', '--yes', '--reason', 'it hangs', '--actor', 'mia', '--json'];
    const more = ['--audit-file', auditFile, '--fence-gate', server.url];
    const args = ['release', 'stuck', '--token', String(lock.fencingToken), ...flags, ...more];
    const { code, stdout, stderr } = await holdfast(args, { env });
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    const [eviction] = objectsOf(stdout);
    expect(eviction).toMatchObject({ evicted: true, outcome: 'taken', key: 'stuck' });
    const [audit] = objectsOf(await readFile(auditFile, 'utf8'));
    expect(audit).toMatchObject({ actor: 'mia', via: 'cli', reason: 'it hangs', key: 'stuck' });
    expect(BigInt(String(eviction!['tokenAfter']))).toBeGreaterThan(lock.fencingToken);
    await expect(new RedisFencingGate(client).enter(lock)).rejects.toThrow(/stale|larger/i);
    expect(await locks.inspect('stuck')).toBeUndefined();
  });

  it('release asks the holder, and says how to fence where there is no gate', async () => {
    const lock = await locks.acquire('asked');
    await lock.extend(30_000); // from then on its store hears of evictions
    lock.signal.addEventListener('abort', () => void lock.release());
    const args = ['release', 'asked', '--token', String(lock.fencingToken), '--yes'];
    const { code, stdout } = await holdfast(args, { env });
    expect(code).toBe(0);
    expect(stdout).toMatch(/asked, and has released asked|asked was taken/);
  });

  it('release does nothing to another holder, and nothing without a yes', async () => {
    const lock = await locks.acquire('later');
    const release = (...flags: string[]) => holdfast(['release', 'later', ...flags], { env });
    expect(await release('--token', '7', '--force', '--yes')).toMatchObject({ code: 1 });
    const token = ['--token', String(lock.fencingToken)];
    expect(await release(...token)).toMatchObject({
      code: 64,
      stderr: expect.stringMatching(/--yes/),
    });
    expect(await release('--yes')).toMatchObject({
      code: 64,
      stderr: expect.stringMatching(/--token/),
    });
    const unwritable = ['--audit-file', join(folder, 'no', 'such'), '--yes'];
    expect(await release(...token, ...unwritable)).toMatchObject({ code: 64 });
    expect(lock.isHeld).toBe(true);
    expect((await locks.inspect('later'))?.holder).toContain(`:${process.pid}:`);
  });

  it('doctor finds what loses locks, and a store that is down', async () => {
    const { code, stdout } = await holdfast(['doctor', '--json'], { env });
    expect(code).toBe(1);
    expect(objectsOf(stdout)).toMatchObject([
      { about: 'lock', status: 'ok' },
      { about: 'eviction', status: 'ok' },
      { about: 'persistence', status: 'problem', message: expect.stringMatching(/appendonly/) },
      { about: 'acl', status: 'ok' },
      { about: 'clock', status: 'ok' },
      { about: 'replicas', status: 'ok' },
    ]);
    const nobody = `redis://u:s3cret@127.0.0.1:${await freePort()}`;
    const down = await holdfast(['doctor', '--store', nobody]);
    expect(down).toMatchObject({ code: 69, stdout: expect.stringMatching(/^down +lock .*ECONN/) });
    expect(down.stdout + down.stderr).not.toContain('s3cret');
  });

  it('dashboard serves the page to this machine only, read-only', async () => {
    await using page = new Holdfast(['dashboard', '--port', '0', '--json'], { env });
    await page.says('\n');
    const url = String(objectsOf(page.stdout)[0]!['url']);
    expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/$/);
    const response = await fetch(url);
    expect(response.status).toBe(200);
    expect(await response.text()).toContain('<script');
    expect(await statusOf(url, 'evil.example')).toBe(403);
    page.kill('SIGINT');
    expect((await page.ended).code).toBe(0);
  });

  it('--version tells that of the package', async () => {
    const { version } = JSON.parse(await readFile('package.json', 'utf8')) as { version: string };
    expect(await holdfast(['--version'])).toMatchObject({ code: 0, stdout: `${version}\n` });
  });

  it('--help of each command has two examples', async () => {
    const { stdout: help } = await holdfast(['--help']);
    const named = [...help.split('Commands:')[1]!.matchAll(/^ {2}([a-z]+)\b/gm)];
    const commands = named.map(([, name]) => name!).filter((name) => name !== 'help');
    expect(commands).toEqual(expect.arrayContaining(['ls', 'inspect', 'wait', 'run', 'release']));
    for (const command of commands) {
      const { code, stdout } = await holdfast([command, '--help']);
      expect([command, code]).toEqual([command, 0]);
      expect([command, stdout.match(/^ {2}\$ holdfast /gm)?.length]).toEqual([command, 2]);
    }
  });
});

/** Of a request that names another host. */
function statusOf(url: string, host: string): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    const sent = request(url, { headers: { host } }, (response) => resolve(response.statusCode));
    sent.on('error', reject).end();
  });
}
