import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { LockService, MemoryLockStore } from 'nest-holdfast';
import { Test } from '@nestjs/testing';
import { RedisServer } from '../support/servers/redis-server.js';
import { asModule } from './support/as-module.js';
import { ROOT, readPage } from './support/markdown.js';

type Run = (given: { locks: LockService }) => Promise<Record<string, new () => unknown>>;

const blocks = readPage('README.md').blocks.filter(
  ({ language, marks }) => language === 'ts' && !marks.includes('partial'),
);

const CORE_ERRORS = readFileSync(join(ROOT, 'lib/core/contract/lock-errors.ts'), 'utf8');
const QUEUE_ERRORS = readFileSync(join(ROOT, 'lib/core/queue/queue-full-error.ts'), 'utf8');
const FENCING_ERRORS = readFileSync(join(ROOT, 'lib/fencing/holder/fencing-errors.ts'), 'utf8');

/** By code, the class that has it. */
const ERRORS = Object.fromEntries(
  [
    ...(CORE_ERRORS + QUEUE_ERRORS + FENCING_ERRORS).matchAll(
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
    directory = mkdtempSync(join(__dirname, 'blocks-')); // inside the project, so that imports resolve as a user's do
    files = blocks.map((block, index) => {
      const file = join(directory, `block-${index}.ts`);
      writeFileSync(file, asModule(block, redis.url));
      return file;
    });
  });

  afterAll(async () => {
    rmSync(directory, { recursive: true, force: true });
    await redis.stop();
  });

  it('has code', () => {
    expect(blocks.length).toBeGreaterThanOrEqual(5);
  });

  describe.each(blocks.map((block, index) => ({ ...block, index })))(
    '$heading, line $line',
    ({ index }) => {
      const load = async () => (await import(files[index]!)) as { run: Run };

      it('runs', async () => {
        const locks = memoryLocks();
        const classes = await (await load()).run({ locks });
        const module = classes['AppModule'];
        if (module) {
          const app = await Test.createTestingModule({ imports: [module] }).compile();
          await app.init();
          await app.close();
        }
        await locks.close();
      });
    },
  );

  it('has every error code, with its class, when it comes and what to do', () => {
    const text = readFileSync(join(ROOT, 'README.md'), 'utf8');
    const rows = text.matchAll(/^\| `(LOCK_\w+)` +\| `(\w+)` +\| \w.* \| \w.* \|$/gm);
    expect(Object.fromEntries([...rows].map(([, code, name]) => [code, name]))).toEqual(ERRORS);
  });

  it('has them as LockErrorCode names them, and so has docs/errors.md', () => {
    const [, union = ''] = /^export type LockErrorCode =\n([^;]*);/m.exec(CORE_ERRORS)!;
    const codes = [...union.matchAll(/'(\w+)'/g)].map(([, code]) => code!);
    expect(codes.toSorted()).toEqual(Object.keys(ERRORS).toSorted());
    const rows = readPage('docs/errors.md').prose.matchAll(/^\| `(LOCK_\w+)` +\|/gm);
    expect([...rows].map(([, code]) => code)).toEqual(codes);
  });

  it('names every option with its default', () => {
    const text = readFileSync(join(ROOT, 'README.md'), 'utf8');
    const source = readFileSync(join(ROOT, 'lib/core/options/lock-options.ts'), 'utf8');
    const options = [...source.matchAll(/@default (\S+)\n\s+\*\/\n\s+readonly (\w+)\?/g)];
    expect(options.length).toBeGreaterThan(8);
    for (const [, value, name] of options) {
      expect(text).toMatch(new RegExp(`\\| \`${name}\` +\\| \`${value}\` +\\|`));
    }
  });
});

function memoryLocks(): LockService {
  return new LockService(new MemoryLockStore());
}
