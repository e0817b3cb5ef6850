import { mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { LockService, MemoryLockStore } from 'nest-holdfast';
import { Test } from '@nestjs/testing';
import { RedisServer } from '../support/servers/redis-server.js';
import { asModule } from './support/as-module.js';
import { ROOT, readPage } from './support/markdown.js';
import type { CodeBlock } from './support/markdown.js';

interface Defined {
  readonly AppModule?: new () => unknown;
  readonly shutDown?: () => Promise<void>;
}
type Run = (given: { locks: LockService }) => Promise<Defined>;

const page = readPage('README.md');
/** `main.ts` listens on a port: the applications of test/packaging run it. */
const blocks = page.blocks.filter(
  ({ language, marks }) => language === 'ts' && !marks.includes('file=main.ts'),
);
const text = readFileSync(join(ROOT, 'README.md'), 'utf8');

/** Packages that an application of `nest new` has. */
const OF_NEST_NEW = ['@nestjs/common', '@nestjs/core', 'reflect-metadata', 'rxjs'];

const CORE_ERRORS = readFileSync(join(ROOT, 'lib/core/contract/lock-errors.ts'), 'utf8');
const QUEUE_ERRORS = readFileSync(join(ROOT, 'lib/core/queue/queue-full-error.ts'), 'utf8');
const DRAIN_ERRORS = readFileSync(join(ROOT, 'lib/core/drain/draining-error.ts'), 'utf8');
const FENCING_ERRORS = readFileSync(join(ROOT, 'lib/fencing/holder/fencing-errors.ts'), 'utf8');

/** By code, the class that has it. */
const ERRORS = Object.fromEntries(
  [
    ...(CORE_ERRORS + QUEUE_ERRORS + DRAIN_ERRORS + FENCING_ERRORS).matchAll(
      /class (\w+) extends LockError \{\s+readonly code = '(\w+)'/g,
    ),
  ].map(([, name, code]) => [code, name]),
);

describe('README', () => {
  let redis: RedisServer;
  let directory: string;
  let files: string[];

  beforeAll(async () => {
    redis = await RedisServer.shared();
    process.env['REDIS_URL'] = redis.url;
    directory = mkdtempSync(join(__dirname, 'blocks-')); // inside the project, so that imports resolve as a user's do
    files = blocks.map((block, index) => {
      const file = join(directory, `block-${index}.ts`);
      writeFileSync(file, asModule(block, redis.url));
      return file;
    });
  });

  afterAll(async () => {
    delete process.env['REDIS_URL'];
    rmSync(directory, { recursive: true, force: true });
    await redis.stop();
  });

  it('has a first screen: what it is, eight lines of code, one picture, how to install it', () => {
    const [screen] = text.split('\n## ') as [string];
    expect(screen.split('\n').length).toBeLessThanOrEqual(30);
    const [code, install] = page.blocks as [CodeBlock, CodeBlock];
    expect(code.code.trimEnd().split('\n')).toHaveLength(8);
    expect(install.code).toBe('npm install nest-holdfast ioredis\n');
    expect(screen.indexOf(install.code)).toBeGreaterThan(0);
    expect(screen.match(/^!\[/gm)).toHaveLength(1);
  });

  it('has the two commands for a clone near the top, which CONTRIBUTING.md has too', () => {
    const contributing = readFileSync(join(ROOT, 'CONTRIBUTING.md'), 'utf8');
    const { scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
      readonly scripts: object;
    };
    const [top] = text.split('## Quick start') as [string];
    for (const script of ['start', 'test']) {
      expect(scripts).toHaveProperty([script]);
      expect(top).toContain(`\`npm ci && npm ${script}\``);
      expect(contributing).toMatch(new RegExp(`^npm (ci && npm )?${script}\\b`, 'm'));
    }
  });

  it('says how to install what its code for Nest imports', () => {
    const installed = page.blocks
      .filter(({ language }) => language === 'sh')
      .flatMap(({ code }) => code.trim().split(/\s+/).slice(2));
    const imported = blocks
      .filter(({ code }) => !code.includes('/express'))
      .flatMap(({ code }) => [...code.matchAll(/from '(@?\w[^']*)'/g)].map(([, from]) => from!));
    const missing = imported.filter((name) => ![...OF_NEST_NEW, ...installed].includes(name));
    expect(missing).toEqual([]);
  });

  it('is short, and has no URL of a server in its code', () => {
    expect(text.split('\n').length).toBeLessThan(200);
    for (const { code } of page.blocks) expect(code).not.toMatch(/\w+:\/\/\w/);
  });

  it('links to every page of docs/', () => {
    const pages = readdirSync(join(ROOT, 'docs')).filter((file) => file.endsWith('.md'));
    const linked = [...text.matchAll(/\]\(docs\/([\w-]+\.md)/g)].map(([, name]) => name);
    expect(linked).toEqual(expect.arrayContaining(pages));
  });

  it('compares with what a reader may take instead, in five rows', () => {
    const [, rest = ''] = text.split('\n## Why this and not …\n');
    const [section] = rest.split('\n## ') as [string];
    const rows = section.split('\n').filter((line) => line.startsWith('| '));
    expect(rows.slice(2)).toHaveLength(5);
    for (const row of rows) expect(row.match(/ \| \S/g)).toHaveLength(2);
  });

  describe.each(blocks.map((block, index) => ({ ...block, index })))(
    '$heading, line $line',
    ({ index }) => {
      const load = async () => (await import(files[index]!)) as { run: Run };

      it('runs', async () => {
        const locks = memoryLocks();
        const { AppModule, shutDown } = await (await load()).run({ locks });
        if (AppModule) {
          const app = await Test.createTestingModule({ imports: [AppModule] }).compile();
          await app.init();
          await app.get(LockService).withLock('order:42', async () => {}); // on the server of REDIS_URL
          await app.close();
        }
        await shutDown?.();
        await locks.close();
      });
    },
  );
});

describe('docs/errors.md', () => {
  const { prose } = readPage('docs/errors.md');

  it('has every error code, with its class, when it comes and what to do', () => {
    const rows = prose.matchAll(/^\| `(LOCK_\w+)` +\| `(\w+)` +\| \w.* \| \w.* \|$/gm);
    expect(Object.fromEntries([...rows].map(([, code, name]) => [code, name]))).toEqual(ERRORS);
  });

  it('has them as LockErrorCode names them, also in the table of what they carry', () => {
    const [, union = ''] = /^export type LockErrorCode =\n([^;]*);/m.exec(CORE_ERRORS)!;
    const codes = [...union.matchAll(/'(\w+)'/g)].map(([, code]) => code!);
    expect(codes.toSorted()).toEqual(Object.keys(ERRORS).toSorted());
    const [, carried = ''] = prose.split('\n## What they carry\n');
    expect([...carried.matchAll(/^\| `(LOCK_\w+)` +\|/gm)].map(([, code]) => code)).toEqual(codes);
  });
});

describe('docs/options.md', () => {
  it('names every option with its default', () => {
    const { prose } = readPage('docs/options.md');
    const source = readFileSync(join(ROOT, 'lib/core/options/lock-options.ts'), 'utf8');
    const options = [...source.matchAll(/@default (\S+)\n\s+\*\/\n\s+readonly (\w+)\?/g)];
    expect(options.length).toBeGreaterThan(8);
    for (const [, value, name] of options) {
      expect(prose).toMatch(new RegExp(`\\| \`${name}\` +\\| \`${value}\` +\\|`));
    }
  });
});

function memoryLocks(): LockService {
  return new LockService(new MemoryLockStore());
}
