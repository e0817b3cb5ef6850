import { isReader, isShared } from '../../core/sharing/hold-mode.js';

/** A caller that holds a key or waits for it. */
export interface Standing {
  /** How many may hold the key together with it. `Infinity`: a reader. Missing: it is exclusive. */
  readonly permits: number | undefined;
}

/** The place of a caller: it holds the key, or waits for a change of one other caller, or of any caller before it. */
export type PlaceInQueue<T> =
  | {
      readonly state: 'holds';
      /** The next caller, which may be waiting for the news that this one has been let in. */
      readonly tells?: T | undefined;
    }
  | {
      readonly state: 'waits';
      readonly behind: T;
      /** `'changed'`: it also looks again when the other reports that it was let in, or has become a reader. */
      readonly until: 'gone' | 'changed';
    }
  | { readonly state: 'waits'; readonly until: 'any is gone' };

/**
 * Which callers hold, and what the others wait for. `queue` is in the order of arrival; callers behind the one at `index` may be
 * missing.
 *
 * - An exclusive caller holds when it is the first. Otherwise it waits for the one right before it: the recipe for locks
 *   (https://zookeeper.apache.org/doc/current/recipes.html#sc_recipes_Locks).
 * - One of n sharers holds when no caller with other permits is before it, and fewer than n with the same. A caller with other
 *   permits is a barrier. Behind it, the first n wait for the barrier alone: they come in together. So do all readers.
 * - A permit may come from any holder, so one caller has to wait for all of them: only the first in the queue does. When it has
 *   been let in it tells the one right behind it. That one waits for this news, and is then the first in the queue. So a holder
 *   that gives a permit back wakes two: the one that gets it, and the one that takes its place.
 *
 * Callers whose permits differ exclude each other wherever they meet, so that nothing depends on their being refused in time.
 */
export function placeInQueue<T extends Standing>(
  queue: readonly T[],
  index: number,
): PlaceInQueue<T> {
  const { permits } = queue[index]!;
  const before = queue.slice(0, index);
  if (!isShared(permits)) {
    const last = before.at(-1);
    return last ? { state: 'waits', behind: last, until: 'gone' } : { state: 'holds' };
  }
  const barrier = before.findLastIndex((each) => each.permits !== permits);
  const ahead = index - barrier - 1;
  if (ahead < permits) return barrier < 0 ? within(queue, index) : behindBarrier(before[barrier]!);
  if (ahead === permits && barrier < 0) return { state: 'waits', until: 'any is gone' };
  return { state: 'waits', behind: before.at(-1)!, until: 'changed' };
}

/** The holders of the key, in the order of arrival. */
export function holdersOf<T extends Standing>(queue: readonly T[]): T[] {
  const { permits = 1 } = queue[0] ?? {};
  const end = queue.findIndex(
    (each, index) => index >= permits || each.permits !== queue[0]!.permits,
  );
  return queue.slice(0, end < 0 ? queue.length : end);
}

/**
 * The permits of the callers that share the key before the one at `index`, if they differ from its own. The first sharer decides:
 * later ones that differ are about to leave. For new callers only: a caller that is in the queue has been checked.
 */
export function otherPermits(queue: readonly Standing[], index: number): number | undefined {
  const { permits } = queue[index]!;
  if (!isShared(permits)) return undefined;
  const inUse = queue.slice(0, index).find((each) => isShared(each.permits))?.permits;
  return inUse === permits ? undefined : inUse;
}

function within<T extends Standing>(queue: readonly T[], index: number): PlaceInQueue<T> {
  const { permits } = queue[index]!;
  const next = queue[index + 1];
  const isTold = !isReader(permits) && next?.permits === permits;
  return { state: 'holds', tells: isTold ? next : undefined };
}

/** An exclusive caller may become a reader. Others only leave. */
function behindBarrier<T extends Standing>(barrier: T): PlaceInQueue<T> {
  const until = isShared(barrier.permits) ? 'gone' : 'changed';
  return { state: 'waits', behind: barrier, until };
}
