import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { RedisServer } from '../support/servers/redis-server.js';

const ROOT = join(__dirname, '..', '..');
const MINUTES = 60_000;

/** The command line, from the packed package that is installed beside the client of its store. */
describe('the command line of the packed package', () => {
  let folder: string;
  let server: RedisServer;

  beforeAll(async () => {
    server = await RedisServer.shared();
    folder = await mkdtemp(join(tmpdir(), 'holdfast-command-line-'));
    if (!existsSync(join(ROOT, 'dist/esm/package.json'))) await output(ROOT, 'npm', 'run', 'build');
    await output(ROOT, 'npm', 'pack', '--pack-destination', folder);
    const [packed] = await readdir(folder);
    await writeFile(join(folder, 'package.json'), '{ "private": true }');
    const flags = ['--prefer-offline', '--no-audit', '--no-fund'];
    await output(folder, 'npm', 'install', ...flags, join(folder, packed!), 'ioredis@6');
  }, 5 * MINUTES);

  afterAll(() => rm(folder, { recursive: true, force: true }));

  it.each([
    ['npx', 'holdfast'],
    ['npx', 'nest-holdfast'],
    [join('node_modules', '.bin', 'holdfast')],
  ])('works as %s %s', async (file, ...first) => {
    const ask = (...args: string[]) => output(folder, file, ...first, ...args);
    const store = ['--store', server.url];
    expect(await ask('--help')).toContain('Usage: holdfast');
    const ran = await ask('run', 'k', ...store, '--', 'node', '-p', '6 * 7');
    expect(ran).toBe('42\n');
    expect(await ask('ls', 'k', ...store)).toBe('');
  });
});

/** What the program writes to stdout. Rejects with all that it wrote. */
function output(cwd: string, file: string, ...args: string[]): Promise<string> {
  return new Promise((resolve, reject) => {
    const env = Object.fromEntries(
      Object.entries(process.env).filter(([name]) => !FOREIGN.test(name)),
    );
    execFile(file, args, { cwd, env }, (error, stdout, stderr) => {
      if (error)
        reject(new Error(`${file} ${args.join(' ')}\n${stdout}\n${stderr}`, { cause: error }));
      else resolve(stdout);
    });
  });
}

/** Variables of the surrounding `npm test` and Jest. */
const FOREIGN =
  /^(npm_(?!config_(registry|cache|userconfig|cafile|https?_proxy))|JEST_|NODE_OPTIONS$|NODE_ENV$|INIT_CWD$|HOLDFAST_)/i;
