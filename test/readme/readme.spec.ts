import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { LockService, MemoryLockStore } from 'nest-holdfast';
import * as errors from 'nest-holdfast';
import { Test } from '@nestjs/testing';
import { RedisServer } from '../support/redis-server.js';
import { asModule } from './as-module.js';
import { ROOT, readPage } from './markdown.js';

type Run = (given: { locks: LockService }) => Promise<Record<string, new () => unknown>>;

const blocks = readPage('README.md').blocks.filter(
  ({ language, marks }) => language === 'ts' && !marks.includes('partial'),
);

describe('README', () => {
  let redis: RedisServer;
  let directory: string;
  let files: string[];

  beforeAll(async () => {
    redis = await RedisServer.start();
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
    expect(blocks.length).toBeGreaterThan(8);
  });

  describe.each(blocks.map((block, index) => ({ ...block, index })))(
    '$heading, line $line',
    ({ index, code }) => {
      const isTest = code.includes('describe(');
      const load = async () => (await import(files[index]!)) as { run: Run };

      if (isTest) {
        it('defines a suite', async () => {
          const defined: string[] = [];
          const define = { describe: globalThis.describe, it: globalThis.it };
          Object.assign(globalThis, {
            describe: (_: string, body: () => void) => body(),
            it: (name: string) => defined.push(name),
          });
          try {
            await (await load()).run({ locks: memoryLocks() });
          } finally {
            Object.assign(globalThis, define);
          }
          expect(defined).toContain('grants a free key');
        });
        return;
      }

      it('runs', async () => {
        const locks = memoryLocks();
        const classes = await (await load()).run({ locks });
        const module = classes['AppModule'] ?? classes['BillingModule'];
        if (module) {
          const app = await Test.createTestingModule({ imports: [module] }).compile();
          await app.init();
          await app.close();
        }
        await locks.close();
      });
    },
  );

  it('has a heading for every error code and names its class', () => {
    const text = readFileSync(join(ROOT, 'README.md'), 'utf8');
    const classes = Object.entries(errors).filter(([name]) => /^Lock(?!Error)\w+Error$/.test(name));
    expect(classes.length).toBe(5);
    for (const [name] of classes)
      expect(text).toMatch(new RegExp(`^### \`LOCK_\\w+\` \\(\`${name}\`\\)$`, 'm'));
  });

  it('names every option with its default', () => {
    const text = readFileSync(join(ROOT, 'README.md'), 'utf8');
    const source = readFileSync(join(ROOT, 'lib/core/lock-options.ts'), 'utf8');
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
