import { execFileSync } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { LockService, RedisLockStore } from 'nest-holdfast/core';
import { RedisServer } from '../../support/servers/redis-server.js';
import { builtCli } from '../support/built-cli.js';
import { holdfast } from '../support/holdfast.js';

/** Cursor to the top left, then clear to the end of the screen. */
const REDRAW = '\u001b[H\u001b[J';
/** Each style begins with it. */
const STYLE = '\u001b[';

describe('on a terminal', () => {
  let folder: string;
  let server: RedisServer;
  let client: Redis;
  let locks: LockService;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'holdfast-terminal-'));
    server = await RedisServer.shared();
    client = new Redis(server.url);
    locks = new LockService(new RedisLockStore(client));
    await locks.acquire('shown');
  });
  afterAll(async () => {
    await locks.close();
    await client.quit();
    await rm(folder, { recursive: true, force: true });
  });

  /** All that the command line writes to a terminal. With `draws`, Ctrl-C is typed once it has been drawn so often. */
  async function onTerminal(command: string, env: object = {}, draws?: number): Promise<string> {
    const log = join(folder, 'typescript');
    const feed = join(folder, 'feed.sh');
    const count = `grep -ac '\\[J' ${log}`;
    const typed = `while [ $(${count}) -lt ${draws} ]; do sleep 0.05; done; printf '\\003'`;
    await writeFile(feed, draws === undefined ? ':' : typed);
    const program = `${process.execPath} ${builtCli()} ${command} --store ${server.url}`;
    const line = `: > ${log}; sh ${feed} | script -qefc "${program}" ${log} || :`;
    // A user's terminal says none of CI, FORCE_COLOR, NO_COLOR or NODE_DISABLE_COLORS.
    const { PATH, HOME } = process.env;
    const options = {
      env: { PATH, HOME, TERM: 'xterm-256color', ...env },
      stdio: 'pipe',
      timeout: 100_000,
    } as const;
    execFileSync('sh', ['-c', line], options);
    return readFile(log, 'utf8');
  }

  it('ls --watch draws in place, until Ctrl-C', async () => {
    const [, ...draws] = (await onTerminal('ls shown --watch', {}, 2)).split(REDRAW);
    expect(draws.length).toBeGreaterThanOrEqual(2);
    for (const drawn of draws.slice(0, -1)) expect(drawn.match(/KEY[\s\S]*shown/g)).toHaveLength(1);
  });

  it('ls has colour, and none with NO_COLOR, as one object per line, or off a terminal', async () => {
    expect(await onTerminal('ls shown')).toContain(STYLE);
    expect(await onTerminal('ls shown', { NO_COLOR: '1' })).not.toContain(STYLE);
    expect(await onTerminal('ls shown --json')).not.toContain(STYLE);
    const env = { FORCE_COLOR: '1' }; // for programs that have colours elsewhere, too
    const { stdout } = await holdfast(['ls', 'shown', '--store', server.url], { env });
    expect(stdout).toContain('shown');
    expect(stdout).not.toContain('\u001b');
  });
});
