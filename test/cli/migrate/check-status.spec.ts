import { Redis } from 'ioredis';
import { LockService, RedisLockStore } from 'nest-holdfast/core';
import { freePort } from '../../support/processes/free-port.js';
import { EtcdServer } from '../../support/servers/etcd-server.js';
import { RedisServer } from '../../support/servers/redis-server.js';
import { Holdfast, holdfast, objectsOf } from '../support/holdfast.js';

const SECRET = 's3cret-Pa55';

describe('holdfast migrate check and status', () => {
  let from: RedisServer;
  let to: RedisServer;
  let client: Redis;
  let locks: LockService;
  let env: Record<string, string>;

  beforeAll(async () => {
    [from, to] = await Promise.all([RedisServer.start(), RedisServer.start()]);
    client = new Redis(from.url);
    locks = new LockService(new RedisLockStore(client));
    env = { HOLDFAST_FROM: from.url, HOLDFAST_TO: to.url };
  });
  afterAll(async () => {
    await locks.close();
    await client.quit();
    await Promise.all([from.stop(), to.stop()]);
  });

  it('check finds two stores that locks can move between', async () => {
    const { code, stdout, stderr } = await holdfast(
      ['migrate', 'check', '--json', '--store-timeout', '60s'],
      { env },
    );
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(objectsOf(stdout)).toMatchObject([{ ok: true, findings: [] }]);
    const etcd = await EtcdServer.shared();
    const target = etcd.url.replace('http:', 'etcd:');
    const args = ['migrate', 'check', '--to', target, '--store-timeout', '60s']; // on a busy machine
    const text = await holdfast(args, { env });
    expect(text.code).toBe(0);
    expect(text.stdout).toMatch(/^hint +FENCING_BASE +.*handover/m);
    expect(text.stdout).toMatch(/^ok +the move may begin$/m);
  });

  it('check refuses one place of two names, and takes another prefix for another place', async () => {
    const same = ['migrate', 'check', '--to', from.url];
    const { code, stdout } = await holdfast(same, { env });
    expect(code).toBe(1);
    expect(stdout).toMatch(/^problem +SAME_KEYS/m);
    expect((await holdfast([...same, '--to-prefix', 'other:'], { env })).code).toBe(0);
  });

  it('status lists the locks of one store alone, and waits for their end', async () => {
    const lock = await locks.acquire('order:42');
    const alone = await holdfast(['migrate', 'status', '--json'], { env });
    expect(alone).toMatchObject({ code: 1, stderr: '' });
    expect(objectsOf(alone.stdout)).toMatchObject([
      { isPaired: false, from: 1, to: 0, unpaired: [{ key: 'order:42' }] },
    ]);
    const text = await holdfast(['migrate', 'status'], { env });
    expect(text.stdout).toMatch(
      /^1 locks in --from, 0 in --to, 1 in --from alone\nKEY .*\norder:42/,
    );
    await using waiting = new Holdfast(['migrate', 'status', '--wait', 'forever'], { env });
    await lock.release();
    expect(await waiting.ended).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^0 locks/),
    });
  });

  it.each(['check', 'status'])(
    '%s: a store is down, missing or not one: one line',
    async (name) => {
      const port = await freePort();
      const asked = (...flags: string[]) => holdfast(['migrate', name, ...flags], { env });
      const down = await asked('--to', `redis://u:${SECRET}@127.0.0.1:${port}`);
      expect(down.code).toBe(69);
      expect(down.stdout + down.stderr).toMatch(/ECONNREFUSED/);
      expect(down.stdout + down.stderr).not.toContain(SECRET);
      for (const url of [`redis://u:${SECRET}/x@host:1`, `mongodb://u:${SECRET}@host`, SECRET]) {
        const { code, stdout, stderr } = await asked('--from', url);
        expect({ code, stdout }).toEqual({ code: 64, stdout: '' });
        expect(stderr).toMatch(/^holdfast: --from: .*\n$/);
        expect(stderr).not.toContain(SECRET);
      }
      const missing = await holdfast(['migrate', name, '--from', from.url]);
      expect(missing).toMatchObject({ code: 64, stderr: expect.stringMatching(/^holdfast: .*--to .*\n$/) }); // prettier-ignore
      const unknown = await asked('--frmo', 'x');
      expect(unknown).toMatchObject({ code: 64, stderr: expect.stringContaining(`"holdfast migrate ${name} --help"`) }); // prettier-ignore
    },
  );
});

it.each(['check', 'status', 'copy'])('migrate %s --help has two examples', async (command) => {
  const { code, stdout } = await holdfast(['migrate', command, '--help']);
  expect(code).toBe(0);
  expect(stdout.match(/^ {2}\$ holdfast /gm)).toHaveLength(2);
});
