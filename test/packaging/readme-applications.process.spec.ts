import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { cp, mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { ROOT, readPage } from '../readme/support/markdown.js';
import { RedisServer } from '../support/servers/redis-server.js';

const CONSUMERS = join(__dirname, 'consumers');
const MINUTES = 60_000;
const FOREIGN = /^(npm_(?!config_)|JEST_|NODE_OPTIONS$|NODE_ENV$|INIT_CWD$)/i;
/** What is installed in place of the packages of Nest 11. */
const NEST: Readonly<Record<string, readonly string[]>> = {
  10: ['common@10', 'core@10', 'platform-express@10', 'config@3', 'schedule@4'],
  11: [],
  12: ['common@12', 'core@12', 'platform-express@12', 'config@12', 'schedule@12'],
};

const { blocks } = readPage('README.md');
const blockWith = (text: string) => blocks.find(({ code }) => code.includes(text))!.code;

/** The files of a page, by their names, but for those that need another package. */
const filesOf = (page: string, folder: string) =>
  Object.fromEntries(
    readPage(page).blocks.flatMap(({ marks, code }) => {
      const name = marks.find((mark) => mark.startsWith('file='))?.slice('file='.length);
      return name && !code.includes("'typeorm'") ? [[`${folder}${name}`, code]] : [];
    }),
  );

/** Applications whose files are the blocks of the README and of docs, as a reader copies them. */
describe('an application as the README and docs have it', () => {
  let directory: string;
  let tarball: string;

  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'holdfast-readme-'));
    if (!existsSync(join(ROOT, 'dist/esm/package.json'))) await npm(ROOT, 'run', 'build');
    await npm(ROOT, 'pack', '--pack-destination', directory);
    const [packed] = await readdir(directory);
    tarball = join(directory, packed!);
  }, 5 * MINUTES);

  afterAll(() => rm(directory, { recursive: true, force: true }));

  it.each([4, 5])(
    'locks in Express %i',
    async (version) => {
      const files = {
        'app.ts': `${blockWith('nest-holdfast/express')}\nexport { app, locks, redis };\n`,
        ...filesOf('docs/express.md', ''),
      };
      const express = [`express@${version}`, `@types/express@${version}`];
      await check('readme-express', files, ...express);
    },
    10 * MINUTES,
  );

  it.each(Object.entries(NEST))(
    'locks in Nest %s, built by tsc, SWC and webpack',
    async (_, packages) => {
      const files = {
        'app.module.ts': blockWith('class AppModule'),
        'main.ts': blockWith('async function bootstrap'),
        'stock.service.ts': blockWith('class StockService'),
        'bank.ts': blockWith('class Bank'),
        'orders.service.ts': blockWith('class OrdersService'),
        ...filesOf('docs/recipes.md', 'docs/'),
      };
      await check('readme-nest', files, ...packages.map((name) => `@nestjs/${name}`));
    },
    10 * MINUTES,
  );

  async function check(
    consumer: string,
    files: Readonly<Record<string, string>>,
    ...packages: string[]
  ): Promise<void> {
    const folder = await mkdtemp(join(directory, `${consumer}-`));
    await cp(join(CONSUMERS, consumer), folder, { recursive: true });
    await mkdir(join(folder, 'src/docs'));
    for (const [name, code] of Object.entries(files))
      await writeFile(join(folder, 'src', name), code);
    await npm(
      folder,
      'install',
      '--prefer-offline',
      '--no-audit',
      '--no-fund',
      tarball,
      ...packages,
    );
    await npm(folder, 'run', 'check');
  }
});

/** With the address of a real server, and without the variables of the surrounding Jest. Rejects with what npm printed. */
async function npm(cwd: string, ...words: string[]): Promise<void> {
  const own = Object.entries(process.env).filter(([name]) => !FOREIGN.test(name));
  const redis = words[1] === 'check' ? { REDIS_URL: (await RedisServer.shared()).url } : {};
  const env = { ...Object.fromEntries(own), ...redis };
  await promisify(execFile)('npm', words, { cwd, env }).catch(({ stdout, stderr }) => {
    throw new Error(`npm ${words.join(' ')}\n${stdout}\n${stderr}`);
  });
}
