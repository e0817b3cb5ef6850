/** One who holds a key or waits for it. */
export interface Standing {
  /** How many may hold the key together with it. `Infinity`: a reader. Missing: it excludes everybody else. */
  readonly permits: number | undefined;
}

/** Where one stands: it holds the key, or waits until something happens to one other, or to any that is before it. */
export type PlaceInLine<T> =
  | {
      readonly state: 'holds';
      /** Who is right behind it and may be waiting to hear that it has been let in. */
      readonly tells?: T | undefined;
    }
  | {
      readonly state: 'waits';
      readonly behind: T;
      /** `'changed'`: it also looks again when the other tells that it was let in, or has become a reader. */
      readonly until: 'gone' | 'changed';
    }
  | { readonly state: 'waits'; readonly until: 'any is gone' };

/**
 * Who holds, and what the others wait for. `line` is in the order of arrival; those behind the one at `index` may be missing.
 *
 * - One that excludes everybody holds when nobody is before it, and else waits for the one right before it: the recipe for locks
 *   (https://zookeeper.apache.org/doc/current/recipes.html#sc_recipes_Locks).
 * - One of n sharers holds when nobody with other permits is before it, and fewer than n with the same. Behind a barrier, one
 *   with other permits, the first n wait for that alone: they come in together. So do all readers.
 * - A permit may come from any of those who hold, so somebody has to wait for all of them: the first in line does, and nobody
 *   else. When it has been let in it tells the one right behind it, for which that one waits, and which is then the first in
 *   line. So whoever gives a permit back wakes two: the one that gets it, and the one that takes its place.
 *
 * Those whose permits differ exclude each other wherever they meet, so that nothing depends on their being refused in time.
 */
export function placeInLine<T extends Standing>(line: readonly T[], index: number): PlaceInLine<T> {
  const { permits } = line[index]!;
  const before = line.slice(0, index);
  if (permits === undefined) {
    const last = before.at(-1);
    return last ? { state: 'waits', behind: last, until: 'gone' } : { state: 'holds' };
  }
  const barrier = before.findLastIndex((each) => each.permits !== permits);
  const ahead = index - barrier - 1;
  if (ahead < permits) return barrier < 0 ? within(line, index) : behindBarrier(before[barrier]!);
  if (ahead === permits && barrier < 0) return { state: 'waits', until: 'any is gone' };
  return { state: 'waits', behind: before.at(-1)!, until: 'changed' };
}

/** Those who hold the key now, in the order of arrival. */
export function holdersOf<T extends Standing>(line: readonly T[]): T[] {
  const { permits = 1 } = line[0] ?? {};
  const end = line.findIndex(
    (each, index) => index >= permits || each.permits !== line[0]!.permits,
  );
  return line.slice(0, end < 0 ? line.length : end);
}

/**
 * What those say who share the key before the one at `index`, if it is not what that one says. The first of them decides: later
 * ones who differ are about to leave. For those who have just come: whoever was let stand in line once has been agreed with.
 */
export function otherPermits(line: readonly Standing[], index: number): number | undefined {
  const { permits } = line[index]!;
  if (permits === undefined) return undefined;
  const inUse = line.slice(0, index).find((each) => each.permits !== undefined)?.permits;
  return inUse === permits ? undefined : inUse;
}

function within<T extends Standing>(line: readonly T[], index: number): PlaceInLine<T> {
  const { permits } = line[index]!;
  const next = line[index + 1];
  const isTold = permits !== Infinity && next?.permits === permits;
  return { state: 'holds', tells: isTold ? next : undefined };
}

/** One that excludes everybody may become a reader. Others only go. */
function behindBarrier<T extends Standing>(barrier: T): PlaceInLine<T> {
  const until = barrier.permits === undefined ? 'changed' : 'gone';
  return { state: 'waits', behind: barrier, until };
}
