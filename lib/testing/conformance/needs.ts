import type { Lease, LockInspection, LockStore } from '../../core/contract/lock-store.js';

/** The features that a store may lack: `lacks` of the suite names it. */
export type ConformanceFeature = keyof typeof FEATURES;

/** The features that a check needs: a feature of the store, or an option of the suite. */
export type Need = ConformanceFeature | 'endSession' | 'disconnect';

/** A store of the suite, with an exclusive lease that only shows what leases can do. */
export interface Sample {
  readonly store: LockStore;
  readonly lease: Lease;
  /** Whether a lease is handed off although no caller waits. */
  handsOff(): Promise<boolean>;
  /** The key of the lease, as the store tells it. */
  inspected(): Promise<LockInspection | undefined>;
}

interface Feature {
  /** Why a check that needs it is skipped. */
  readonly missing: string;
  isIn(sample: Sample): boolean | Promise<boolean>;
}

export const FEATURES = {
  ttl: feature('keys live by a session', ({ store }) => store.supports.ttl),
  sessions: feature('keys live by a ttl', ({ store }) => !store.supports.ttl),
  fencing: feature('no fencing tokens', ({ store }) => store.supports.fencing),
  fencingFloor: feature(
    'no request raises the fencing tokens',
    ({ store: { supports } }) => supports.fencing && supports.fencingFloor !== false,
  ),
  globalTokens: feature(
    'the fencing tokens of each key are counted apart',
    ({ store: { supports } }) => supports.fencing && supports.fencingFloor === false,
  ),
  raiseFencing: feature('no lease raises the fencing tokens', ({ lease }) => !!lease.raiseFencing),
  manyKeys: feature('no request for several keys', ({ store }) => !!store.supports.manyKeys),
  queue: feature('no queue: core polls', ({ store }) => !!store.acquire),
  queuesManyKeys: feature(
    'no queue for several keys: core polls',
    ({ store }) => !!store.acquire && !!store.supports.queuesManyKeys,
  ),
  extendMany: feature('leases are extended one by one', ({ store }) => !!store.extendMany),
  inspect: feature('no inspect', ({ store }) => !!store.inspect),
  list: feature('held keys are not listed', ({ store }) => !!store.list),
  evict: feature('holders are not evicted', ({ store }) => !!store.evict && !!store.askHolder),
  heldFor: feature(
    'the store does not know for how long a key has been held',
    async (sample) => (await sample.inspected())?.heldFor !== undefined,
  ),
  waiters: feature(
    'the store does not tell who waits',
    async (sample) => (await sample.inspected())?.waiters !== undefined,
  ),
  observe: feature('the store tells of no doubt', ({ store }) => !!store.observe),
  handOff: feature('leases are not handed off', (sample) => sample.handsOff()),
  readLocks: feature('no read locks', ({ store }) => !!store.supports.readLocks),
  semaphores: feature('no semaphores', ({ store }) => !!store.supports.semaphores),
  permitQueue: feature(
    'no queue for semaphores',
    ({ store }) => !!store.acquire && store.supports.semaphores === true,
  ),
  downgrade: feature('no writer becomes a reader', ({ lease }) => !!lease.downgrade),
} as const satisfies Readonly<Record<string, Feature>>;

export function isFeature(need: unknown): need is ConformanceFeature {
  return typeof need === 'string' && Object.hasOwn(FEATURES, need);
}

function feature(missing: string, isIn: Feature['isIn']): Feature {
  return { missing, isIn };
}
