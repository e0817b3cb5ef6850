import { wallClock } from '../../core/async/clock.js';
import type { LockInspection, LockNode } from '../../core/contract/lock-store.js';
import { reasonOf } from '../../core/contract/safe-error.js';
import type { LockService } from '../../core/lock.service.js';
import { byUrgency, SampledLock } from './sampled-lock.js';
import type { StoreWalk } from './store-walk.js';

/** The answers of the store about single keys. `undefined`: the key is free. */
export type Inspections = ReadonlyMap<string, LockInspection | undefined>;

/** The findings of one round: all that the viewers are shown until the next round. */
export class Sample {
  /** Milliseconds since 1970. */
  readonly at = wallClock();
  /** The most urgent first. */
  readonly locks: readonly SampledLock[];
  readonly nodes: readonly LockNode[];
  readonly canList: boolean;
  readonly isComplete: boolean;
  readonly failure: string | undefined;
  /** The round goes on: a first look at what it has found. */
  readonly isPartial: boolean;
  /** Snapshots as JSON, by their query: many look at the same. */
  readonly texts = new Map<string, string>();
  readonly #inspections: Inspections;
  readonly #byKey: ReadonlyMap<string, SampledLock>;

  constructor(locks: LockService, walk: StoreWalk, inspections: Inspections, isPartial: boolean) {
    this.#byKey = merged(locks, walk.found);
    this.locks = byUrgency([...this.#byKey.values()].filter(isHeld));
    const { nodes, failure } = nodesOf(locks);
    this.nodes = nodes;
    this.canList = walk.canList;
    this.isComplete = walk.isComplete;
    this.failure = walk.failure ?? failure;
    this.isPartial = isPartial;
    this.#inspections = inspections;
  }

  /** One lock. `null`: it is free; `undefined`: that is not known. */
  lock(key: string): SampledLock | null | undefined {
    const listed = this.#byKey.get(key);
    const isAsked = this.#inspections.has(key);
    if (!isAsked) return listed && isHeld(listed) ? listed : undefined;
    const lock = new SampledLock(key, this.#inspections.get(key));
    lock.held.push(...(listed?.held ?? []));
    lock.waiting.push(...(listed?.waiting ?? []));
    return isHeld(lock) ? lock : null;
  }
}

/** A third-party store may fail here, too. */
function nodesOf(locks: LockService): { nodes: readonly LockNode[]; failure?: string } {
  try {
    return { nodes: [...locks.nodes()] };
  } catch (error) {
    return { nodes: [], failure: reasonOf(error) };
  }
}

function isHeld({ held, inspection }: SampledLock): boolean {
  return held.length > 0 || inspection !== undefined;
}

/** The service's knowledge is newer than the store's answer. */
function merged(
  locks: LockService,
  found: ReadonlyMap<string, LockInspection>,
): ReadonlyMap<string, SampledLock> {
  const byKey = new Map<string, SampledLock>();
  for (const [key, inspection] of found) byKey.set(key, new SampledLock(key, inspection));
  const of = (key: string) => {
    const lock = byKey.get(key) ?? new SampledLock(key);
    byKey.set(key, lock);
    return lock;
  };
  for (const held of locks.held()) for (const key of held.keys) of(key).held.push(held);
  for (const call of locks.waiting()) for (const key of call.keys) of(key).waiting.push(call);
  return byKey;
}
