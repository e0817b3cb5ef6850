import type { Entry, ProcessHistory } from './history.js';

/** The entries of one kind, of all processes. */
export function all<Is extends Entry['is']>(histories: readonly ProcessHistory[], is: Is) {
  const isIt = (entry: Entry): entry is Extract<Entry, { is: Is }> => entry.is === is;
  return histories.flatMap(({ entries }) => entries.filter(isIt));
}

/** Asks that a process which came to its end never answered. */
export function unanswered({ entries, killedAt }: ProcessHistory): number[] {
  if (killedAt !== undefined) return [];
  const open = new Set<number>();
  for (const entry of entries) {
    if (entry.is === 'asked') open.add(entry.ask);
    if (entry.is === 'granted' || entry.is === 'refused') open.delete(entry.ask);
  }
  return [...open];
}

/** Milliseconds: the longest time in which a process got no lock, between two that it got. */
export function longestWait(histories: readonly ProcessHistory[]): number {
  const waits = histories.flatMap((history) => {
    const grants = all([history], 'granted').map(({ at }) => at);
    return grants.slice(1).map((at, index) => at - grants[index]!);
  });
  return Math.max(0, ...waits) / 1e6;
}
