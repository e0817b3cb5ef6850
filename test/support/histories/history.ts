/** The actions of one process, in its order. Times are nanoseconds of the machine's monotonic clock. */
export type Entry =
  | Asked
  | { readonly is: 'cancelled'; readonly ask: number; readonly at: number }
  /** The ask ended without a lock. */
  | { readonly is: 'refused'; readonly ask: number; readonly at: number; readonly why: string }
  | Granted
  /** An extension came through; it may have been asked for before the lock was handed out. */
  | {
      readonly is: 'extended';
      readonly key: string;
      readonly token: number;
      readonly until: number;
    }
  | { readonly is: 'released' | 'lost'; readonly ask: number; readonly at: number }
  /** A writer lets readers in from now on. */
  | { readonly is: 'downgraded'; readonly ask: number; readonly at: number }
  /** A holder saw that it still has the lock. `at` is before it looked, so that no pause lies between the two. */
  | { readonly is: 'seen'; readonly ask: number; readonly at: number }
  /** The way of a key's lease: it comes out of the line, goes on in the process, goes back. */
  | { readonly is: 'claimed' | 'passing' | 'returned'; readonly key: string }
  /** The server is asked for fencing tokens, and says whether others wait. */
  | { readonly is: 'renewing'; readonly key: string }
  | { readonly is: 'renewed'; readonly key: string; readonly isContended: boolean }
  /** The server told the process that another one waits for the lock it holds. */
  | { readonly is: 'contended'; readonly key: string };

/** How many may hold a key together. Missing: one, exclusively. */
interface Shared {
  readonly permits?: number | undefined;
}

/** The permits of a read lock: a number that a file can hold. */
export const READERS = 1_000_000_000;

interface Asked extends Shared {
  readonly is: 'asked';
  readonly ask: number;
  readonly key: string;
  readonly at: number;
}

export interface Granted extends Shared {
  readonly is: 'granted';
  readonly ask: number;
  readonly key: string;
  /** Missing of sharers. */
  readonly token?: number | undefined;
  readonly at: number;
  /** The end of its validity, as far as it was known. Missing: it was held while `seen`. */
  readonly until?: number | undefined;
  readonly from: 'attempt' | 'line' | 'holder before';
}

export interface ProcessHistory {
  readonly process: string;
  readonly entries: readonly Entry[];
  readonly killedAt?: number | undefined;
}

/** Maximum number of consecutive hand-offs inside a process while another process waits. */
const LOCAL_PASS_LIMIT = 8;

/** The violations in all histories together. */
export function violations(histories: readonly ProcessHistory[]): string[] {
  return [
    ...overlaps(histories),
    ...histories.flatMap((history) => [...outOfOrder(history), ...passedTooOften(history)]),
  ];
}

interface Hold extends Shared {
  readonly process: string;
  readonly key: string;
  readonly token?: number | undefined;
  readonly from: number;
  until: number;
}

/** Two that held a lock at once and did not share it, more than may share it, and tokens that do not grow. */
function overlaps(histories: readonly ProcessHistory[]): string[] {
  const found: string[] = [];
  for (const holds of grouped(histories.flatMap(holdsOf), ({ key }) => key)) {
    let active: Hold[] = [];
    let newest: Hold | undefined;
    for (const hold of holds.toSorted((a, b) => a.from - b.from)) {
      active = active.filter(({ until }) => until > hold.from);
      const other = active.find(({ permits }) => !permits || permits !== hold.permits);
      if (other) found.push(`two at once: ${nameOf(other)}, ${nameOf(hold)}`);
      active.push(hold);
      if (hold.permits && active.length > hold.permits)
        found.push(`too many at once: ${active.map(nameOf).join(', ')}`);
      if (hold.token === undefined) continue;
      if (newest && hold.token <= newest.token!)
        found.push(`no growth: ${nameOf(newest)}, ${nameOf(hold)}`);
      else newest = hold;
    }
  }
  return found;
}

/**
 * From the grant to the first end of it: a release, a loss, the end of its validity, or of its process. Of a session, which a
 * process that is paused cannot see end: to the last moment at which it saw that it had the lock.
 */
function holdsOf({ process, entries, killedAt = Infinity }: ProcessHistory): Hold[] {
  const holds = new Map<number, Hold>();
  const byToken = new Map<string, number>();
  const ends = new Map<number, number>();
  const downgrades = new Map<number, number>();
  for (const entry of entries) {
    if (entry.is === 'released' || entry.is === 'lost') {
      ends.set(entry.ask, Math.min(entry.at, ends.get(entry.ask) ?? Infinity));
    } else if (entry.is === 'granted') {
      const { key, token, permits, at: from, until = from } = entry;
      holds.set(entry.ask, { process, key, token, permits, from, until });
      byToken.set(`${key} ${token}`, entry.ask);
    } else if (entry.is === 'downgraded') {
      downgrades.set(entry.ask, entry.at);
    } else if (entry.is === 'seen') {
      const hold = holds.get(entry.ask)!;
      hold.until = Math.max(hold.until, entry.at);
    } else if (entry.is === 'extended') {
      const hold = holds.get(byToken.get(`${entry.key} ${entry.token}`) ?? -1);
      if (hold) hold.until = Math.max(hold.until, entry.until);
    }
  }
  for (const [ask, hold] of holds) {
    hold.until = Math.min(hold.until, ends.get(ask) ?? Infinity, killedAt);
  }
  const parts = [...holds].flatMap(([ask, hold]) => partsOf(hold, downgrades.get(ask)));
  return parts.filter(({ from, until }) => until > from);
}

/** Until a writer lets readers in, and from then on. */
function partsOf(hold: Hold, downgradedAt: number | undefined): Hold[] {
  if (downgradedAt === undefined) return [hold];
  const { token: _, ...reader } = hold;
  return [
    { ...hold, until: Math.min(hold.until, downgradedAt) },
    { ...reader, permits: READERS, from: downgradedAt },
  ];
}

/** Callers of one process that were served before others that had asked earlier, still waited, and could not share with them. */
function outOfOrder({ process, entries }: ProcessHistory): string[] {
  const found: string[] = [];
  const waiting = new Map<number, Asked>();
  for (const entry of entries) {
    if (entry.is === 'asked') waiting.set(entry.ask, entry);
    else if (entry.is === 'cancelled' || entry.is === 'refused') waiting.delete(entry.ask);
    else if (entry.is === 'granted') {
      const first = [...waiting.values()].find(
        ({ ask, key, permits }) =>
          key === entry.key && (ask === entry.ask || !permits || permits !== entry.permits),
      )?.ask;
      waiting.delete(entry.ask);
      if (first !== undefined && first < entry.ask) {
        found.push(`out of order: ${process} served ${entry.ask} before ${first}`);
      }
    }
  }
  return found;
}

/** Since when the server knows that a process may pass a lock on, so that it tells when others wait. */
interface Stretch {
  isContended: boolean;
  /** The first pass was made before it was known whether others wait. */
  owesFirst: boolean;
  passes: number;
}

/** Locks that went round in one process although it had been told that another one waits. */
function passedTooOften({ process, entries }: ProcessHistory): string[] {
  const found: string[] = [];
  const stretches = new Map<string, Stretch>();
  const count = (key: string, stretch: Stretch): void => {
    if (!stretch.isContended || ++stretch.passes !== LOCAL_PASS_LIMIT + 1) return;
    found.push(`too often: ${process} passed ${key} on once more than it may`);
  };
  for (const entry of entries) {
    if (!('key' in entry)) continue;
    const { key } = entry;
    const stretch = stretches.get(key);
    if (entry.is === 'claimed') {
      stretches.set(key, { isContended: false, owesFirst: false, passes: 0 });
    } else if (entry.is === 'returned' || (entry.is === 'granted' && entry.from === 'attempt')) {
      stretches.delete(key);
    } else if (entry.is === 'renewing' && !stretch) {
      stretches.set(key, { isContended: false, owesFirst: true, passes: 0 });
    } else if (!stretch) continue;
    else if (entry.is === 'contended') stretch.isContended = true;
    else if (entry.is === 'passing') count(key, stretch);
    else if (entry.is === 'renewed') {
      stretch.isContended ||= entry.isContended;
      if (stretch.owesFirst) count(key, stretch);
      stretch.owesFirst = false;
    }
  }
  return found;
}

function nameOf({ process, key, token, permits, from }: Hold): string {
  return `${key} ${token ?? `shared by ${permits} from ${from}`} of ${process}`;
}

function grouped<T>(items: readonly T[], keyOf: (item: T) => string): T[][] {
  const groups = new Map<string, T[]>();
  for (const item of items) {
    const group = groups.get(keyOf(item));
    if (group) group.push(item);
    else groups.set(keyOf(item), [item]);
  }
  return [...groups.values()];
}
