import type { LockStoreFeatures } from 'nest-holdfast/core';
import { MemoryLockStore } from 'nest-holdfast/core';
import { type ConformanceOptions, lockStoreConformance } from 'nest-holdfast/testing';

const CHECK = 'lets no reader overtake a writer in line, and readers behind it in together';
const REASON = 'no read locks';

/** Without read locks, nothing else. */
class PlainStore extends MemoryLockStore {
  override readonly supports: LockStoreFeatures = { fencing: true, ttl: true };
}

type Run = (this: unknown, ...given: unknown[]) => Promise<void>;

interface Registered {
  readonly run: Map<string, Run>;
  readonly skipped: string[];
}

/** The checks that the suite registers with a runner, which has `skip` or not. */
function register(options: Partial<ConformanceOptions> = {}, canSkip = true): Registered {
  const run = new Map<string, Run>();
  const skipped: string[] = [];
  const test = (name: string, each: () => Promise<void>) => run.set(name, each);
  const skip = (name: string) => skipped.push(name);
  const createStore = () => new PlainStore();
  lockStoreConformance({
    test: canSkip ? Object.assign(test, { skip }) : test,
    createStore,
    ...options,
  });
  return { run, skipped };
}

describe('A check that does not hold for a store', () => {
  let info: jest.SpyInstance;

  beforeEach(() => {
    info = jest.spyOn(console, 'info').mockReturnValue();
  });

  afterEach(() => info.mockRestore());

  it('is registered as skipped, with the reason, where the suite was told', () => {
    const { run, skipped } = register({ lacks: ['readLocks'] });
    expect(skipped).toContain(`${CHECK} (${REASON})`);
    expect(run.has(CHECK)).toBe(false);
  });

  it('is skipped with the reason while it runs, by what node:test and Vitest hand to a test', async () => {
    const context = { skip: jest.fn() };
    await register().run.get(CHECK)!.call(undefined, context);
    expect(context.skip).toHaveBeenCalledWith(REASON);
    expect(info).not.toHaveBeenCalled();
  });

  it('is skipped as its runner says, when that throws', async () => {
    const skip = () => {
      throw new Error('skipped');
    };
    await expect(register().run.get(CHECK)!.call(undefined, { skip })).rejects.toThrow('skipped');
  });

  it('is skipped with the reason in its title by Mocha, which hands itself as this', async () => {
    const mocha = { test: { title: CHECK }, skip: jest.fn() };
    await register().run.get(CHECK)!.call(mocha);
    expect(mocha.skip).toHaveBeenCalledTimes(1);
    expect(mocha.test.title).toBe(`${CHECK} (${REASON})`);
  });

  it('is told of on the console, once for each reason, under a runner that cannot skip it then', async () => {
    const { run } = register();
    await run.get(CHECK)!.call({});
    await run.get(CHECK)!.call({});
    expect(info).toHaveBeenCalledTimes(1);
    const [text] = info.mock.calls[0] as [string];
    expect(text).toContain(REASON);
    expect(text).toContain("lacks: ['readLocks']");
    expect(text).toContain(CHECK);
  });

  it('is told of also when the runner registers nothing as skipped', async () => {
    const { run, skipped } = register({ lacks: ['readLocks'] }, false);
    expect(skipped).toEqual([]);
    await run.get(CHECK)!.call({});
    expect(info).toHaveBeenCalledWith(expect.stringContaining(REASON));
  });

  it('is skipped for want of an option', () => {
    const { skipped } = register();
    expect(skipped).toEqual([
      expect.stringMatching(/no `endSession` was given/),
      expect.stringMatching(/no `disconnect` was given/),
    ]);
  });

  it('fails when the store has what it is said to lack', async () => {
    const { run } = register({ lacks: ['readLocks', 'fencing'] });
    await expect(run.get('lacks what it is said to lack')!.call({})).rejects.toThrow(
      'the store has what `lacks` says it does not have',
    );
  });

  it('hands no test a parameter: Jest and Mocha would wait for a callback', () => {
    for (const each of register().run.values()) expect(each).toHaveLength(0);
  });
});
