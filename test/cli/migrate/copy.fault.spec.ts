import { existsSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  RedisMove,
  TTL,
  USER,
  expectExclusion,
  namesOf,
} from '../../migrate/support/redis-move.js';
import { freePort } from '../../support/processes/free-port.js';
import { RedisServer } from '../../support/servers/redis-server.js';
import { until } from '../../support/until.js';
import { Holdfast, holdfast, objectsOf } from '../support/holdfast.js';

const SECRET = 's3cret-Pa55';
/** Keys that take long enough to copy that a signal comes meanwhile. */
const MANY = 50_000;

let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'holdfast-copy-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

/** `migrate copy`, as an administrator with a password. */
async function argsOf(move: RedisMove, ...more: string[]): Promise<string[]> {
  const urls = await Promise.all(
    [move.from, move.to].map(async (server) => {
      await server.command('ACL', 'SETUSER', 'admin', 'on', `>${SECRET}`, '~*', '&*', '+@all');
      return `redis://admin:${SECRET}@127.0.0.1:${server.port}`;
    }),
  );
  return ['migrate', 'copy', '--from', urls[0]!, '--to', urls[1]!, '--user', USER, ...more];
}

/** A command of the step "move" that waits for the test to move the address. */
function moving(move: RedisMove, says = 'echo moving') {
  const [asked, moved] = ['asked', 'moved'].map((name) => join(folder, name));
  const script = `${says}; touch ${asked}; while [ ! -e ${moved} ]; do sleep 0.05; done`;
  const isAsked = () => until(() => existsSync(asked!));
  const answer = async () => {
    move.address.retarget(move.to.port);
    await writeFile(moved!, '');
  };
  return { command: ['--', 'sh', '-c', script], isAsked, answer };
}

async function holdMany(move: RedisMove): Promise<void> {
  const pipeline = move.admins[0].pipeline();
  for (let index = 0; index < MANY; index++) pipeline.set(`lock:many:${index}`, 'x', 'PX', 600_000);
  await pipeline.exec();
}

describe('holdfast migrate copy', () => {
  it('moves held locks under load between servers whose clocks differ', async () => {
    await using move = await RedisMove.start('+5s');
    const held = await move.application().acquire('held');
    move.load(3);
    await move.works();
    const { command, isAsked, answer } = moving(move);
    await using run = new Holdfast(await argsOf(move, '--yes', '--json', ...command));
    await isAsked();
    await answer();
    const { code, stdout, stderr } = await run.ended;
    expect({ code, stderr }).toMatchObject({ code: 0 });
    expect(objectsOf(stdout)).toMatchObject([{ outcome: 'moved', locks: expect.any(Number) }]);
    expect(stderr).toMatch(/step check\n.*step close\n.*step copy\n.*step open\n.*step move\nmoving\n.*step retire\n/); // prettier-ignore
    expect(stderr).not.toContain(SECRET);
    await move.works();
    await until(() => held.extend(TTL).then(() => true));
    await move.unload();
    expectExclusion(move.holds);
  });

  it('moves the locks to the end where its output is not read any more', async () => {
    await using move = await RedisMove.start();
    const held = await move.application().acquire('held');
    const { command, isAsked, answer } = moving(move, ':');
    await using run = new Holdfast(await argsOf(move, '--yes', ...command));
    for (const output of ['stdout', 'stderr'] as const) run.leave(output);
    await isAsked();
    await answer();
    expect(await run.ended).toMatchObject({ code: 0 });
    await until(() => held.extend(TTL).then(() => true));
  });

  it('that takes too long is undone: 75', async () => {
    await using move = await RedisMove.start();
    const held = await move.application().acquire('held');
    await holdMany(move);
    const { code, stdout, stderr } = await holdfast(
      await argsOf(move, '--yes', '--within', '1ms', '--', 'true'),
    );
    expect({ code, stdout }).toEqual({ code: 75, stdout: '' });
    expect(stderr).toMatch(/holdfast: The copy failed and was undone: .*it took \d+ ms, of 1\n$/);
    expect(await namesOf(move.to)).toEqual([]);
    await until(() => held.extend(TTL).then(() => true));
  });

  it.each([
    ['SIGINT', 75],
    ['SIGKILL', null],
  ] as const)(
    'that %s ends while it copies leaves the old server to serve',
    async (signal, code) => {
      await using move = await RedisMove.start();
      const held = await move.application().acquire('held');
      await holdMany(move);
      await using run = new Holdfast(await argsOf(move, '--yes', '--', 'true'));
      await until(() => run.stderr.includes('step copy'));
      run.kill(signal);
      expect(await run.ended).toMatchObject({ code });
      if (signal === 'SIGKILL') {
        const again = await holdfast(await argsOf(move, '--yes', '--', 'true'));
        expect(again).toMatchObject({ code: 64, stderr: expect.stringMatching(/settle/) });
        const settled = await holdfast(await argsOf(move, '--settle', '--yes', '--json'));
        expect(objectsOf(settled.stdout)).toEqual([{ outcome: 'undone' }]);
      }
      expect(await namesOf(move.to)).toEqual([]);
      await until(() => held.extend(TTL).then(() => true));
    },
  );

  it.each(['fails', 'is killed'])('whose command %s is finished by --settle', async (how) => {
    await using move = await RedisMove.start();
    const held = await move.application().acquire('held');
    const { command, isAsked } = moving(move);
    const words = how === 'fails' ? ['--', 'sh', '-c', 'exit 3'] : command;
    await using run = new Holdfast(await argsOf(move, '--yes', ...words));
    if (how === 'is killed') {
      await isAsked();
      run.kill('SIGKILL');
      await writeFile(join(folder, 'moved'), '');
      await run.ended;
    } else {
      const { code, stderr } = await run.ended;
      expect(code).toBe(70);
      expect(stderr).toMatch(/holdfast: The copy was cut off, .*--settle.*has ended with 3\n$/);
    }
    move.address.retarget(move.to.port);
    const settled = await holdfast(await argsOf(move, '--settle', '--yes', '--json'));
    expect(settled.code).toBe(0);
    expect(objectsOf(settled.stdout)).toEqual([{ outcome: 'moved' }]);
    await until(() => held.extend(TTL).then(() => true));
  });

  it('begins nothing for wrong usage, in one line without passwords', async () => {
    await using move = await RedisMove.start();
    const held = await move.application().acquire('held');
    const all = await argsOf(move);
    const port = await freePort();
    const wrong: readonly [args: string[], code: number, line: RegExp][] = [
      [all, 64, /behind --, or run this on a terminal/],
      [[...all, '--', 'true'], 64, /give --yes/],
      [[...all, '--settle', '--yes', '--', 'true'], 64, /either --settle or a command/],
      [[...all, '--yes', '--user', '', '--', 'true'], 64, /--user locks/],
      [[...all, '--yes', '--user', 'x on nopass\n', '--', 'true'], 64, /no user/],
      [[...all, '--yes', '--within', '5', '--', 'true'], 64, /with its unit/],
      [[...all, '--yes', '--within', '0', '--', 'true'], 64, /within must be/],
      [[...all, '--yes', '--prefix', '', '--', 'true'], 64, /keyPrefix must be/],
      [[...all, '--yes', '--to', `etcd://u:${SECRET}@x`, '--', 'true'], 64, /--to: .*redis:\/\//],
      [[...all, '--yes', '--to', `redis://u:${SECRET}/@x`, '--', 'true'], 64, /--to: .*escaped/],
      [[...all, '--yes', '--to', `redis://u:${SECRET}@127.0.0.1:${port}`, '--', 'true'], 69, /--to does not answer: .*ECONNREFUSED/], // prettier-ignore
      [[...all, '--yes', '--to', `redis://u:${SECRET}@127.0.0.1:${move.to.port}`, '--', 'true'], 69, /--to does not answer: WRONGPASS/], // prettier-ignore
    ];
    for (const [args, code, line] of wrong) {
      const ended = await holdfast(args);
      expect(ended).toMatchObject({ code, stdout: '' });
      expect(ended.stderr.replace('holdfast: step check\n', '')).toMatch(/^holdfast: [^\n]*\n$/);
      expect(ended.stderr).toMatch(line);
      expect(ended.stderr).not.toContain(SECRET);
    }
    await held.extend(TTL);
  });

  it('refuses a server of a Cluster, and a user that takes locks there already', async () => {
    await using move = await RedisMove.start();
    const cluster = await RedisServer.start({ args: ['--cluster-enabled', 'yes'] });
    const args = await argsOf(move, '--yes');
    const refused = await holdfast([...args, '--from', cluster.url, '--', 'true']);
    await cluster.stop();
    expect(refused).toMatchObject({ code: 64, stderr: expect.stringMatching(/part of a Cluster/) });
    await move.to.command('ACL', 'SETUSER', USER, 'on');
    const isOn = await holdfast([...args, '--', 'true']);
    expect(isOn).toMatchObject({
      code: 64,
      stderr: expect.stringMatching(/ACL SETUSER locks off/),
    });
  });
});
