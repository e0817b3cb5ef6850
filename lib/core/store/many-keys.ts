import { combine, releaseAll } from './combined-lease.js';
import { checkAttempt } from './grant.js';
import type { Asked } from './acquire-request.js';
import type { AcquireRequest, Lease, LockStore } from '../contract/lock-store.js';
import { isPermit, isShared } from '../sharing/hold-mode.js';

/** The refused key of several. */
interface Refusal {
  refusedBy: string | undefined;
}

/**
 * One attempt for all keys of the request. A store that cannot take several at once is asked for one after the other, in
 * canonical order, and gives all of them back when one is held, or the caller has given up.
 */
export function tryAcquireAll(
  store: LockStore,
  request: AcquireRequest,
  asked: Asked = { isGone: false },
  refusal: Refusal = { refusedBy: undefined },
): Promise<Lease | undefined> {
  if (request.keys.length === 1) return store.tryAcquire(request);
  return isKeyByKey(store, request.keys)
    ? oneByOne(store, request, asked, refusal)
    : allAtOnce(store, request, refusal);
}

/**
 * Whether an attempt is one request for each key. Those before a refusal are released, perhaps by a command that is sent twice, of
 * which one comes late: the next attempt needs another token.
 */
export function isKeyByKey({ supports }: LockStore, keys: readonly string[]): boolean {
  return keys.length > 1 && !supports.manyKeys;
}

async function allAtOnce(
  store: LockStore,
  request: AcquireRequest,
  refusal: Refusal,
): Promise<Lease | undefined> {
  const lease = await store.tryAcquire(request);
  if (lease === undefined) refusal.refusedBy = store.refusedKey?.(request);
  return lease;
}

/**
 * The way to wait for taken keys: in the store's queue, in the queue of one key after the other, or by polling. In several
 * queues at once, each key would be held while the next is awaited.
 */
export function waitFor(
  store: LockStore,
  { keys, permits }: Pick<AcquireRequest, 'keys' | 'permits'>,
): 'queues' | 'queues key by key' | 'polls' {
  const { supports } = store;
  if (store.acquire === undefined || (isPermit(permits) && supports.semaphores !== true))
    return 'polls';
  if (keys.length === 1) return 'queues';
  if (supports.queuesManyKeys) return 'queues key by key';
  return supports.queuesAllCallers ? 'queues' : 'polls';
}

async function oneByOne(
  store: LockStore,
  request: AcquireRequest,
  asked: Asked,
  refusal: Refusal,
): Promise<Lease | undefined> {
  const leases: Lease[] = [];
  const single = (key: string) => ({ ...request, key, keys: [key] });
  try {
    for (const key of request.keys) {
      const lease = await taken(store, single(key));
      if (lease) leases.push(lease);
      if (lease && !asked.isGone) continue;
      refusal.refusedBy = key;
      await releaseAll(leases);
      return undefined;
    }
    const fencingToken = isShared(request.permits)
      ? undefined
      : await raiseToLargest(store, request.keys.map(single), leases);
    return combine(leases, fencingToken);
  } catch (error) {
    await giveAllBack(leases);
    throw error;
  }
}

/** One attempt for one key. */
async function taken(store: LockStore, request: AcquireRequest): Promise<Lease | undefined> {
  const lease = await store.tryAcquire(request);
  checkAttempt(lease);
  return lease;
}

/** Of at least one. */
export function largestToken(tokens: readonly bigint[]): bigint {
  return tokens.reduce((a, b) => (a > b ? a : b));
}

/** The keys share one token, so the counter of each must be at least as large: taken again, a key raises its own. */
async function raiseToLargest(
  store: LockStore,
  requests: readonly AcquireRequest[],
  leases: readonly Lease[],
): Promise<bigint | undefined> {
  // A server-wide number cannot be raised, and a waiter may already have a smaller one.
  if (!store.supports.fencing || store.supports.fencingFloor === false) return undefined;
  const tokens = leases.map((lease) => lease.fencingToken ?? 0n);
  const largest = largestToken(tokens);
  const lower = requests.filter((_, index) => tokens[index]! < largest);
  const raised = await Promise.all(
    lower.map((each) => taken(store, { ...each, fencingFloor: largest })),
  );
  if (raised.includes(undefined)) throw new Error('a key was lost while the others were taken');
  return largest;
}

/** Never rejects: the ttl frees keys that a failing store could not. */
async function giveAllBack(leases: readonly Lease[]): Promise<void> {
  await Promise.allSettled(leases.map(async (each) => each.release()));
}
