import { setTimeout as sleep } from 'node:timers/promises';
import { MigratingLockStore, type MigrationPhase } from 'nest-holdfast/migrate';
import { type ConformanceFeature, lockStoreConformance } from 'nest-holdfast/testing';
import { SIDES, type Side } from '../support/servers.js';

/** Microseconds, as the tokens of Redis and PostgreSQL are. */
const IN_A_MONTH = BigInt(Date.now() + 30 * 86_400_000) * 1_000n;
/** Milliseconds in which a busy machine frees by hand what has no ttl. */
const BY_HAND = 1_000;

/** A lock in two stores is not handed off, and its leases are extended one by one. */
const IN_BOTH = ['sessions', 'raiseFencing', 'evict', 'extendMany', 'handOff'] as const;
const OF_COUNTERS = [...IN_BOTH, 'globalTokens'] as const;
const OF_REVISIONS = [...IN_BOTH, 'fencingFloor'] as const;
const OF_REDLOCK = ['readLocks', 'semaphores', 'permitQueue', 'downgrade'] as const;
const OF_TABLES = ['manyKeys', 'readLocks', 'downgrade'] as const;
const TARGET_OF_REVISIONS = [
  'ttl',
  'fencingFloor',
  'raiseFencing',
  'evict',
  'extendMany',
  'handOff',
] as const;

export type Pair = readonly [
  from: keyof typeof SIDES,
  to: keyof typeof SIDES,
  phase: MigrationPhase,
  lacks: readonly ConformanceFeature[],
];

/** Stores whose tokens count, or tell the time. */
export const OF_COUNTED_TOKENS: readonly Pair[] = [
  ['Redis', 'Redis', 'dual', OF_COUNTERS],
  ['Redis', 'Redlock', 'dual', [...OF_COUNTERS, ...OF_REDLOCK]],
  ['Redis', 'PostgreSQL', 'dual', [...OF_COUNTERS, ...OF_TABLES]],
  ['PostgreSQL', 'Redis', 'dual', [...OF_COUNTERS, ...OF_TABLES, 'permitQueue']],
];

/** One of the two stores has revisions for tokens. */
export const WITH_ETCD: readonly Pair[] = [
  ['Redis', 'etcd', 'dual', OF_REVISIONS],
  ['Redis', 'etcd', 'handover', OF_REVISIONS],
  ['etcd', 'Redis', 'dual', [...OF_REVISIONS, 'heldFor']],
];

/** One of the two stores has revisions for tokens. */
export const WITH_ZOOKEEPER: readonly Pair[] = [
  ['Redis', 'ZooKeeper', 'dual', OF_REVISIONS],
  ['Redis', 'ZooKeeper', 'to', TARGET_OF_REVISIONS],
];

/** A group of tests for each pair. */
export function conformanceOfPairs(pairs: readonly Pair[]): void {
  describe.each(pairs)('MigratingLockStore from %s to %s, %s', (...pair) => {
    conformanceOfPair(pair);
  });
}

function conformanceOfPair([one, other, phase, lacks]: Pair): void {
  let from: Side;
  let to: Side;

  beforeAll(async () => {
    [from, to] = await Promise.all([SIDES[one](), SIDES[other]()]);
  });

  afterAll(async () => {
    await from?.[Symbol.asyncDispose]();
    await to?.[Symbol.asyncDispose]();
  });

  const hasRevisions = [one, other].some((name) => name === 'etcd' || name === 'ZooKeeper');
  lockStoreConformance({
    test: it,
    lacks,
    createStore: () =>
      new MigratingLockStore({
        from: from.open(),
        to: to.open(),
        phase,
        largestTtl: 30_000,
        ...(hasRevisions && { fencingBase: IN_A_MONTH }),
        ...(phase === 'to' && { fromClosed: true }),
      }),
    expire: (ms) => sleep(hasRevisions && ms > 20 ? ms + BY_HAND : ms),
  });
}
