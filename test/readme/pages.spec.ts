import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { LockService, MemoryLockStore } from 'nest-holdfast/core';
import { deferred, watch } from '../core/support/outcome.js';
import { asModule } from './support/as-module.js';
import { readPage } from './support/markdown.js';

/** Their blocks are not only compiled, but run, in memory. */
const PAGES = [
  'docs/lock-service.md',
  'docs/primitives.md',
  'docs/keys.md',
  'docs/errors.md',
  'docs/losing-a-lock.md',
];

describe('the code of', () => {
  const directory = mkdtempSync(join(__dirname, 'blocks-')); // inside the project, so that imports resolve as a user's do
  const locks = new LockService(new MemoryLockStore());

  afterAll(async () => {
    rmSync(directory, { recursive: true, force: true });
    await locks.close();
  });

  it.each(PAGES.flatMap((page) => readPage(page).blocks))('$page:$line runs', async (block) => {
    const file = join(directory, `${basename(block.page)}.${block.line}.ts`);
    writeFileSync(file, asModule(block, ''));
    const { run } = (await import(file)) as {
      run: (given: { locks: LockService }) => Promise<unknown>;
    };
    await run({ locks });
  });
});

it('one permit is a semaphore, and has no fencing token', async () => {
  const locks = new LockService(new MemoryLockStore());
  await locks.withPermit('a', { permits: 1 }, (permit) => {
    expect(() => permit.fencingToken).toThrow('no fencing token');
  });
});

describe('what docs/primitives.md says of two nested calls at once', () => {
  const locks = new LockService(new MemoryLockStore(), { waitTimeout: 0 });

  const NESTED = { reentrant: true };

  afterAll(() => locks.close());

  it('they run at the same time', async () => {
    const met = deferred<void>();
    await locks.withLock('a', () =>
      Promise.all([
        locks.withLock('a', NESTED, () => met.promise), // ends only because the other one works beside it
        locks.withLock('a', NESTED, () => met.resolve()),
      ]),
    );
  });

  it('when one fails, the outer call rejects, and the other keeps the lock until it ends', async () => {
    const failure = new Error('first');
    const other = deferred<void>();
    let isHeld: boolean | undefined;
    const outer = locks.withLock('a', () =>
      Promise.all([
        locks.withLock('a', NESTED, () => Promise.reject(failure)),
        locks.withLock('a', NESTED, (lock) => other.promise.then(() => (isHeld = lock.isHeld))),
      ]),
    );
    await expect(outer).rejects.toBe(failure);
    expect(await locks.tryAcquire('a')).toBeUndefined();
    other.resolve();
    await setImmediate();
    expect(isHeld).toBe(true);
    const next = await locks.tryAcquire('a');
    expect(next).toBeDefined();
    await next!.release();
  });

  it('for another key they take turns', async () => {
    const first = deferred<void>();
    const turns: string[] = [];
    const both = watch(
      locks.withLock('a', () =>
        Promise.all([
          locks.withLock('b', async () => {
            turns.push('one begins');
            await first.promise;
            turns.push('one ends');
          }),
          locks.withLock('b', { waitTimeout: 5_000 }, () => void turns.push('other')),
        ]),
      ),
    );
    await setImmediate();
    expect(turns).toEqual(['one begins']);
    first.resolve();
    await setImmediate();
    expect(both.status).toBe('fulfilled');
    expect(turns).toEqual(['one begins', 'one ends', 'other']);
  });
});
