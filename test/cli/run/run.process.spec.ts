import { execFileSync } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { LockService, RedisLockStore } from 'nest-holdfast/core';
import { RedisServer } from '../../support/servers/redis-server.js';
import { until } from '../../support/until.js';
import { builtCli } from '../support/built-cli.js';
import { Holdfast, holdfast } from '../support/holdfast.js';
import { isAlive } from '../support/is-alive.js';

const WITHIN = { within: 60_000 };
const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT', 'SIGUSR1', 'SIGUSR2'] as const;
const LOOP = 'while :; do sleep 0.05; done';

describe('holdfast run', () => {
  let server: RedisServer;
  let client: Redis;
  let locks: LockService;
  let folder: string;
  let env: Record<string, string>;

  beforeAll(async () => {
    server = await RedisServer.shared();
    client = new Redis(server.url);
    locks = new LockService(new RedisLockStore(client));
    folder = await mkdtemp(join(tmpdir(), 'holdfast-run-'));
    env = { HOLDFAST_STORE: server.url };
  });
  afterAll(async () => {
    await locks.close();
    await client.quit();
    await rm(folder, { recursive: true, force: true });
  });

  const sh = (key: string, line: string, ...flags: string[]) =>
    new Holdfast(['run', key, ...flags, '--shell', '--', line], { env, keepsInput: true });
  const isFree = async (key: string) => (await locks.inspect(key)) === undefined;
  const isAwaited = async (key: string) => ((await locks.inspect(key))?.waiterCount ?? 0) > 0;

  it('gives the command the key, the token, the input and its arguments as they are', async () => {
    const line = 'read line; echo "$HOLDFAST_KEY $HOLDFAST_FENCING_TOKEN $line" "$@"';
    const args = ['run', 'given', '--', 'sh', '-c', line, 'sh', '--a b', '$c'];
    await using run = new Holdfast(args, { env, keepsInput: true });
    const held = await until(() => locks.inspect('given'), WITHIN);
    run.write('hello\n');
    const { code, stdout, stderr } = await run.ended;
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toMatch(/^given \d+ hello --a b \$c\n$/);
    expect(held.fencingToken).toBeGreaterThanOrEqual(BigInt(stdout.split(' ')[1]!));
    expect(await isFree('given')).toBe(true);
  });

  it.each([
    ['that of the command', 7, ['--', 'sh', '-c', 'exit 7']],
    ['128 and the number of the signal that ended it', 137, ['--', 'sh', '-c', 'kill -9 $$']],
    ['that of a line for the shell', 3, ['--shell', '--', 'true | exit 3']],
    ['64 for an empty command', 64, ['--', '']],
    ['127 for a command that is not there', 127, ['--', 'no-such-command']],
    ['126 for one that cannot be run', 126, ['--', '/etc/passwd']],
    ['64 without a command', 64, []],
    ['64 for times that cannot be kept', 64, ['--ttl', '4s', '--kill-after', '3s', '--', 'true']],
    ['64 for a mode beside permits', 64, ['--read', '--permits', '2', '--', 'true']],
  ])('exits with %s: %d', async (_what, code, args) => {
    const ended = await holdfast(['run', 'codes', ...args], { env });
    expect(ended).toMatchObject({ code, signal: null });
    expect(ended.stderr).toMatch([64, 126, 127].includes(code) ? /^holdfast: .*\n$/ : /^$/);
    expect(await isFree('codes')).toBe(true);
  });

  it('exits with 75, or the code that is asked for, while another caller holds the key', async () => {
    const lock = await locks.acquire('busy');
    const attempt = (...flags: string[]) =>
      holdfast(['run', 'busy', ...flags, '--', 'echo', 'ran'], { env });
    expect(await attempt('--no-wait')).toMatchObject({ code: 75, stdout: '' });
    expect(await attempt('--wait', '50ms')).toMatchObject({ code: 75, stdout: '' });
    const asked = await attempt('--no-wait', '--conflict-exit-code', '0');
    expect(asked).toMatchObject({ code: 0, stdout: '' });
    const waiting = attempt('--wait', 'forever');
    await until(() => isAwaited('busy'), WITHIN);
    await lock.release();
    expect(await waiting).toMatchObject({ code: 0, stdout: 'ran\n' });
  });

  it.each([
    ['with readers', 75, ['--read']],
    ['by permits', 64, ['--permits', '2']],
  ])('shares a key %s', async (_how, refusal, flags) => {
    await using first = sh('shared', 'echo in $HOLDFAST_FENCING_TOKEN; read end', ...flags);
    await using second = sh('shared', 'echo in $HOLDFAST_FENCING_TOKEN; read end', ...flags);
    await Promise.all([first.says('in\n'), second.says('in\n')]);
    const other = await holdfast(['run', 'shared', '--no-wait', '--', 'true'], { env });
    expect([75, refusal]).toContain(other.code);
    first.write('\n');
    second.write('\n');
    expect(await Promise.all([first.ended, second.ended])).toMatchObject([
      { code: 0 },
      { code: 0 },
    ]);
  });

  it.each(SIGNALS)('passes %s on to the whole group', async (signal) => {
    const name = signal.slice(3);
    const part = (text: string) =>
      `{ trap 'echo told >&2; exit 5' ${name}; echo ${text} >&2; ${LOOP}; }`;
    await using run = sh(signal, `trap : ${name}; ${part('inner')} | ${part('outer')}`);
    await until(() => /inner/.test(run.stderr) && /outer/.test(run.stderr), WITHIN);
    run.kill(signal);
    expect(await run.ended).toMatchObject({ code: 5, signal: null });
    expect(run.stderr.match(/told/g)).toHaveLength(2);
    expect(await isFree(signal)).toBe(true);
  });

  it('is not suspended by Ctrl-Z, which would end its extensions', async () => {
    await using run = sh('suspended', 'echo up; read end; exit 4');
    await run.says('up');
    run.kill('SIGTSTP');
    await until(() => run.stderr.includes('cannot be suspended'), WITHIN);
    run.write('\n');
    expect((await run.ended).code).toBe(4);
  });

  it('ends by a signal while it waits, and runs nothing', async () => {
    const lock = await locks.acquire('awaited');
    await using run = sh('awaited', 'echo ran', '--wait', 'forever');
    await until(() => isAwaited('awaited'), WITHIN);
    run.kill('SIGTERM');
    expect(await run.ended).toMatchObject({ code: 143, stdout: '' });
    await lock.release();
    expect(await isFree('awaited')).toBe(true);
  });

  it('ends what the command has left running before the key is free', async () => {
    const left = `(trap '' TERM; ${LOOP}) >/dev/null & echo $!; exit 6`;
    await using run = sh('left', left, '--kill-after', '300ms');
    await run.says('\n');
    expect((await run.ended).code).toBe(6);
    expect(isAlive(Number(run.stdout))).toBe(false);
    expect(await isFree('left')).toBe(true);
  });

  it('lets the command read from the terminal, and Ctrl-C reach it', async () => {
    const [log, work, feed, shell] = ['typescript', 'work.sh', 'feed.sh', 'shell.sh'].map((name) =>
      join(folder, name),
    );
    const program = `${process.execPath} ${builtCli()} run tty -- sh ${work}`;
    await writeFile(
      work!,
      `test -t 0 && test -t 1 && echo on a tty
       read line; echo "read $line"
       trap 'echo interrupted; exit 9' INT; echo ready; ${LOOP}`,
    );
    await writeFile(
      feed!,
      `seen() { while ! grep -aq "$1" ${log}; do sleep 0.05; done; }
       seen 'on a tty'; echo hello; seen ready; printf '\\003'; seen 'exit code'`,
    );
    await writeFile(shell!, `trap : INT; ${program}; echo "exit code $?"`); // Ctrl-C is for the shell, too
    const line = `: > ${log}; sh ${feed} | script -qfc "sh ${shell}" ${log}`;
    const options = { env: { ...process.env, ...env }, stdio: 'pipe', timeout: 100_000 } as const;
    execFileSync('sh', ['-c', line], options);
    const output = await readFile(log!, 'utf8');
    expect(output).toMatch(
      /on a tty[\s\S]*read hello[\s\S]*ready[\s\S]*interrupted[\s\S]*exit code 9/,
    );
  });
});
