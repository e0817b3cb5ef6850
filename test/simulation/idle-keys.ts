import type { Entry } from '../support/histories/history.js';
import type { Recorder } from './recorder.js';
import { type Backing, LONG_WAIT, type Schedule } from './schedule.js';

/**
 * Milliseconds within which a key that nobody holds goes to a caller that waits for it, once all faults are over: less than any
 * ttl, more than an answer of the store may take, and the attempt after it.
 */
const SOON = 1_300;

interface Hold {
  readonly key: string;
  readonly from: number;
  to: number;
}

/** Where a ttl has to pass only after a crash: elsewhere a release may not arrive, or not be replicated, or a node waits for its vote. */
const PROMPT: readonly Backing[] = ['memory', 'redis'];

/** Callers that waited for a free key until a ttl was over. */
export function idleKeys(
  recorders: readonly Recorder[],
  { backing, faults, actions }: Schedule,
): string[] {
  if (!PROMPT.includes(backing) || faults.some(({ kind }) => kind === 'crash')) return [];
  const calmFrom = Math.max(0, ...faults.map(({ at, ms }) => at + Math.abs(ms)));
  const holds = recorders.flatMap(({ entries }) => holdsOf(entries));
  return recorders.flatMap(({ entries }) =>
    entries.flatMap((entry) => {
      if (entry.is !== 'granted') return [];
      const { at: asked, keys, waitTimeout } = actions[Math.floor(entry.ask)]!;
      if (keys.length > 1 || waitTimeout < LONG_WAIT) return [];
      const before = holds.filter(({ key, from }) => key === entry.key && from < entry.at);
      const freeFrom = Math.max(asked, calmFrom, ...before.map(({ to }) => Math.min(to, entry.at)));
      const idle = Math.round(entry.at - freeFrom);
      return idle > SOON ? [`idle: ${entry.key} was free for ${idle} ms while ask ${entry.ask} waited`] : []; // prettier-ignore
    }),
  );
}

/** From the grant to what the holder was told last, or to its end. */
function holdsOf(entries: readonly Entry[]): Hold[] {
  const holds = new Map<number, Hold>();
  for (const entry of entries) {
    if (entry.is === 'granted') holds.set(entry.ask, { key: entry.key, from: entry.at, to: entry.at }); // prettier-ignore
    if (entry.is !== 'seen' && entry.is !== 'lost' && entry.is !== 'released') continue;
    const hold = holds.get(entry.ask);
    if (hold) hold.to = Math.max(hold.to, entry.at);
  }
  return [...holds.values()];
}
