import { setTimeout as delay } from 'node:timers/promises';
import * as fc from 'fast-check';
import { LockService, MemoryLockStore } from 'nest-holdfast/core';
import type { LockMode, LockStore } from 'nest-holdfast/core';
import { FakeClock } from 'nest-holdfast/testing';
import { sleep } from '../../../lib/core/async/sleep.js';
import { DisabledLockStore } from '../../../lib/nest/module/disabled-lock.store.js';
import { watch } from '../support/outcome.js';
import { SingleKeyStore } from '../support/single-key-store.js';
import { RedisLocks } from '../../stores/redis/locks.js';
import { RedisServer } from '../../support/servers/redis-server.js';

/** `HOLDFAST_TEST_SEED` repeats a run. fast-check prints the seed of one that fails. */
const SEED = process.env['HOLDFAST_TEST_SEED'];
const PARAMETERS = SEED === undefined ? {} : { seed: Number(SEED) };
const PROCESSES = [0, 1, 2];
const KEYS = ['a', 'b', 'c', 'd', 'e'];

interface Caller {
  readonly process: number;
  /** As the caller names them: in any order, some twice. */
  readonly keys: readonly string[];
  readonly mode: LockMode;
}

function callers(modes: readonly LockMode[]): fc.Arbitrary<Caller[]> {
  const key = fc.constantFrom(...KEYS);
  const transfer = fc.tuple(key, key);
  const caller = fc.record({
    process: fc.constantFrom(...PROCESSES),
    keys: fc.oneof(transfer, fc.array(key, { minLength: 1, maxLength: 8 })),
    mode: fc.constantFrom(...modes),
  });
  return fc.array(caller, { minLength: 2, maxLength: 10, size: 'max' });
}

const WRITERS = callers(['write']);
const READERS_TOO = callers(['write', 'write', 'read']);

/** How a caller does its work under its locks. */
type Lock = (caller: Caller, work: () => Promise<void>) => Promise<unknown>;

function withLockOf(services: readonly LockService[], prefix = ''): Lock {
  return ({ process, keys: some, mode }, work) => {
    const options = mode === 'read' ? { mode } : {};
    return services[process]!.withLock(
      some.map((each) => prefix + each),
      options,
      work,
    );
  };
}

/** Takes the keys one after the other, in the order given: so callers can deadlock. */
function holdAndWait(services: readonly LockService[]): Lock {
  const take = async (process: number, [first, ...rest]: readonly string[], work: () => unknown) =>
    first === undefined
      ? work()
      : services[process]!.withLock(first, (): unknown => take(process, rest, work));
  return ({ process, keys: some }, work) => take(process, some, work);
}

/** Lets all go at once. Two callers that work at once with a common key, one of them a writer, fail. */
function cross(all: readonly Caller[], lock: Lock, pause: () => Promise<unknown>) {
  const inside = new Set<Caller>();
  return all.map((caller) =>
    lock(caller, async () => {
      for (const other of inside) {
        if (collide(caller, other)) throw new Error(`${named(caller)} beside ${named(other)}`);
      }
      inside.add(caller);
      await pause();
      inside.delete(caller);
    }),
  );
}

function collide(one: Caller, other: Caller): boolean {
  const isShared = one.mode === 'read' && other.mode === 'read';
  return !isShared && one.keys.some((each) => other.keys.includes(each));
}

function named({ process, mode, keys: some }: Caller): string {
  return `${mode} ${some.join(',')} of process ${process}`;
}

/** Resolves with why callers did not finish, on a clock that needs no time. */
async function failuresInMemory(
  all: readonly Caller[],
  storeOn: (clock: FakeClock) => LockStore,
  lockOf: (services: readonly LockService[]) => Lock = withLockOf,
): Promise<unknown[]> {
  const clock = new FakeClock();
  const store = storeOn(clock);
  const options = { clock, ttl: 3_000, retryDelay: 10, retryJitter: 5, waitTimeout: 30_000 };
  const services = PROCESSES.map(() => new LockService(store, options));
  const outcomes = cross(all, lockOf(services), () => sleep(clock, 20)).map(watch);
  await clock.advance(40_000);
  return outcomes.flatMap(({ status, error }) => (status === 'fulfilled' ? [] : [error ?? status]));
}

const oneByOne = (clock: FakeClock) => {
  const store = new MemoryLockStore(clock);
  return Object.assign(store, { supports: { ...store.supports, manyKeys: false } });
};

describe('callers whose keys cross all finish, and none works beside another', () => {
  it.each([
    ['in memory, in one step', (clock: FakeClock) => new MemoryLockStore(clock), READERS_TOO],
    ['in memory, one by one, beside a line for one key', oneByOne, READERS_TOO],
    ['one by one, polled', (clock: FakeClock) => new SingleKeyStore(clock), WRITERS],
  ])('%s', async (_, storeOn, some) => {
    const property = fc.asyncProperty(some, async (all) => {
      expect(await failuresInMemory(all, storeOn)).toEqual([]);
    });
    await fc.assert(property, { ...PARAMETERS, numRuns: 60 });
  });

  describe('on Redis', () => {
    let server: RedisServer;
    let processes: RedisLocks[];

    beforeAll(async () => {
      server = await RedisServer.shared();
      const options = { retryDelay: 3, retryJitter: 3, waitTimeout: 10_000 };
      processes = PROCESSES.map(() => new RedisLocks(server.url, options));
    });

    afterAll(async () => {
      for (const each of processes) await each[Symbol.asyncDispose]();
      await server.stop();
    });

    it('in one script', async () => {
      const services = processes.map(({ locks }) => locks);
      let run = 0;
      const property = fc.asyncProperty(READERS_TOO, async (all) => {
        const prefix = `${++run}:`;
        await Promise.all(cross(all, withLockOf(services, prefix), () => delay(1)));
        for (const each of KEYS) expect(await services[0]!.inspect(prefix + each)).toBeUndefined();
      });
      await fc.assert(property, { ...PARAMETERS, numRuns: 25 });
    });
  });
});

describe('the property itself', () => {
  it.each([
    [
      'finds callers that hold one key and wait for another',
      holdAndWait,
      MemoryLockStore,
      'was not acquired within',
    ],
    ['finds callers that work beside each other', withLockOf, DisabledLockStore, 'beside'],
  ])('%s', async (_, lockOf, Store, why) => {
    const found: string[] = [];
    const property = fc.asyncProperty(WRITERS, async (all) => {
      const failures = await failuresInMemory(all, (clock) => new Store(clock), lockOf);
      found.push(...failures.map(String));
      return failures.length === 0;
    });
    const { failed } = await fc.check(property, { ...PARAMETERS, numRuns: 60, endOnFailure: true });
    expect(failed).toBe(true);
    expect(found.every((each) => each.includes(why))).toBe(true);
  });
});
