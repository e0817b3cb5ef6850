import { Redis } from 'ioredis';
import { LockService, RedisLockStore } from 'nest-holdfast/core';
import { RedisServer } from '../../support/servers/redis-server.js';
import { until } from '../../support/until.js';
import { Holdfast, holdfast } from '../support/holdfast.js';
import { childOf, isAlive } from '../support/is-alive.js';

const WITHIN = { within: 60_000 };
const TIMES = ['--ttl', '4s', '--kill-after', '1s'];
const LOOP = 'while :; do sleep 0.05; done';
/** Prints the pid of its child. Both ignore SIGTERM. */
const STUBBORN = `trap '' TERM; (${LOOP}) & echo $!; ${LOOP}`;
const WILLING = `trap 'echo told; exit 0' TERM; echo up; ${LOOP}`;

describe('holdfast run, when its lock is in danger', () => {
  let server: RedisServer;
  let client: Redis;
  let locks: LockService;
  let env: Record<string, string>;

  beforeEach(async () => {
    server = await RedisServer.start();
    client = new Redis(server.url);
    client.on('error', () => {});
    locks = new LockService(new RedisLockStore(client));
    env = { HOLDFAST_STORE: server.url };
  });
  afterEach(async () => {
    server.resume();
    await locks.close();
    client.disconnect();
    await server.stop();
  });

  const sh = (line: string, ...flags: string[]) =>
    new Holdfast(['run', 'k', ...TIMES, ...flags, '--', 'sh', '-c', line], { env });
  const pidFrom = async (run: Holdfast) => {
    await run.says('\n');
    return Number(run.stdout);
  };

  it('tells a command to end as soon as the rest is --kill-after, and exits with 70', async () => {
    await using run = sh(WILLING);
    await run.says('up');
    server.pause();
    const { code, stdout, stderr } = await run.ended;
    expect({ code, stdout }).toEqual({ code: 70, stdout: 'up\ntold\n' });
    expect(stderr).toMatch(/holdfast: the lock "k" is about to be lost: .*SIGTERM/);
    expect(stderr).not.toMatch(/killed/);
  });

  it('kills a command that ignores SIGTERM, and its children', async () => {
    await using run = sh(STUBBORN);
    const pid = await pidFrom(run);
    server.pause();
    expect((await run.ended).code).toBe(70);
    expect(run.stderr).toMatch(/the lock "k" is lost: the command was killed/);
    expect(isAlive(pid)).toBe(false);
  });

  it.each(['SIGKILL', 'SIGSTOP'] as const)(
    'has its command killed by the supervisor before another holder starts, when it gets %s itself',
    async (signal) => {
      await using run = sh(STUBBORN);
      const pid = await pidFrom(run);
      run.kill(signal);
      const next = await locks.acquire('k', { waitTimeout: 60_000 });
      expect(isAlive(pid)).toBe(false);
      await next.release();
    },
  );

  it('tells its command to end, through the supervisor, as soon as it is killed', async () => {
    await using run = sh(WILLING, '--ttl', '10m', '--kill-after', '5m');
    await run.says('up');
    run.kill('SIGKILL');
    await until(() => run.stdout.includes('told'), WITHIN);
  });

  it('exits with 70 when it goes on after a stop that lasted too long', async () => {
    await using run = sh(STUBBORN);
    const pid = await pidFrom(run);
    run.kill('SIGSTOP');
    await until(() => !isAlive(pid), WITHIN);
    run.kill('SIGCONT');
    expect((await run.ended).code).toBe(70);
  });

  it('kills the command, and exits with 70, when the supervisor was killed', async () => {
    await using run = sh(STUBBORN);
    const pid = await pidFrom(run);
    process.kill(childOf(run.pid), 'SIGKILL');
    expect((await run.ended).code).toBe(70);
    expect(run.stderr).toMatch(/supervises the command is gone/);
    expect(isAlive(pid)).toBe(false);
  });

  it('kills the command as soon as it learns that the key is gone', async () => {
    await using run = sh(STUBBORN);
    const pid = await pidFrom(run);
    await client.flushall();
    expect((await run.ended).code).toBe(70);
    expect(isAlive(pid)).toBe(false);
  });

  it('is told of an eviction, and its command is dead before the key is taken', async () => {
    await using run = sh(STUBBORN, '--ttl', '60s');
    const pid = await pidFrom(run);
    const { fencingToken } = (await locks.inspect('k'))!;
    const evicted = await locks.evict('k', { fencingToken: fencingToken!, grace: 5_000 });
    expect(isAlive(pid)).toBe(false);
    expect(evicted.evicted).toBe(true);
    expect((await run.ended).code).toBe(70);
  });

  it('does not run while the store is down: 69', async () => {
    await server.kill();
    const ended = await holdfast(['run', 'k', '--wait', '1s', '--', 'echo', 'ran'], { env });
    expect(ended).toMatchObject({ code: 69, stdout: '' });
    expect(ended.stderr).toMatch(/^holdfast: .*ECONNREFUSED.*\n$/);
  });
});
