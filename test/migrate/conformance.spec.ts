import { MemoryLockStore } from 'nest-holdfast';
import { MigratingLockStore } from 'nest-holdfast/migrate';
import { FakeClock, lockStoreConformance } from 'nest-holdfast/testing';

/** A lock in two stores is not handed off, and its leases are extended one by one. */
const LACKED = [
  'sessions',
  'globalTokens',
  'raiseFencing',
  'evict',
  'extendMany',
  'handOff',
] as const;

describe('MigratingLockStore from memory to memory', () => {
  const clock = new FakeClock();
  const from = new MemoryLockStore(clock);
  const to = new MemoryLockStore(clock);
  lockStoreConformance({
    test: it,
    lacks: LACKED,
    createStore: () =>
      new MigratingLockStore({ from, to, phase: 'dual', largestTtl: 30_000, clock }),
    expire: (ms) => clock.advance(ms),
  });
});
