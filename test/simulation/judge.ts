import { violations } from '../support/histories/history.js';
import { idleKeys } from './idle-keys.js';
import type { Recorder } from './recorder.js';
import { LONG_WAIT, type Schedule } from './schedule.js';

/** The state that is left when all calls were answered, and the services closed. */
interface Left {
  readonly held: readonly string[];
  readonly timers: number;
  /** The most that one process made within a second. */
  readonly attempts: number;
}

/** Faults that lose no message, and after which a lock that is lost has ended. */
const QUIET = ['pause', 'suspend', 'slow'];
/** Messages are lost for that many milliseconds at most: every lock outlives it. */
const SHORT = 500;
/** Attempts of one process within a second, with two keys: one every 100 ms for each, and the first of each caller. */
const MOST_ATTEMPTS = 30;

/** The violations of the rules by a run. */
export function judge(recorders: readonly Recorder[], schedule: Schedule, left: Left): string[] {
  return [
    ...recorders.flatMap((recorder) => recorder.violations),
    ...violations(recorders.map(({ history }) => history)),
    ...recorders.flatMap((recorder) => forgotten(recorder, schedule)),
    ...(schedule.faults.length === 0 ? recorders.flatMap(needlessFailures) : []),
    ...(isHarmless(schedule) ? recorders.flatMap(needlessLosses) : []),
    ...idleKeys(recorders, schedule),
    ...leftBehind(schedule, left),
  ];
}

/** Callers of a process that lives that were never answered, or waited for longer than everything takes. */
function forgotten({ open, killedAt, entries }: Recorder, { actions }: Schedule): string[] {
  const unanswered = killedAt === undefined ? open : [];
  const starved = entries.flatMap((entry) => {
    if (entry.is !== 'refused' || !/^Lock(Timeout|Deadlock)Error/.test(entry.why)) return [];
    const ask = Math.floor(entry.ask);
    return actions[ask]!.waitTimeout === LONG_WAIT ? [ask] : [];
  });
  return [
    ...unanswered.map((ask) => `no answer: ask ${ask}`),
    ...[...new Set(starved)].map((ask) => `starved: ask ${ask}, which waits ${LONG_WAIT} ms`),
  ];
}

/** Errors of the store where nothing has failed. */
function needlessFailures({ entries }: Recorder): string[] {
  return entries.flatMap((entry) => {
    const isFailure = entry.is === 'refused' && entry.why.startsWith('LockStoreError');
    return isFailure ? [`needless failure: ask ${entry.ask}, ${entry.why}`] : [];
  });
}

/** Faults that no lock need be lost by: an extension that fails is made again in time. */
function isHarmless({ faults }: Schedule): boolean {
  const lost = faults.reduce(
    (sum, { kind, ms }) => sum + (kind === 'partition' ? ms : Infinity),
    0,
  );
  return lost <= SHORT;
}

function needlessLosses({ entries }: Recorder): string[] {
  return entries.flatMap((each) => (each.is === 'lost' ? [`needless loss: ask ${each.ask}`] : []));
}

/** Keys whose holders have gone, where every message arrived, and timers of nothing. */
function leftBehind({ backing, faults }: Schedule, { held, timers, attempts }: Left): string[] {
  // A node that is slower than `nodeTimeout` counts as one that is away.
  const isQuiet = faults.every(({ kind }) => QUIET.includes(kind) && !(backing === 'redlock' && kind === 'slow')); // prettier-ignore
  return [
    ...(isQuiet && held.length > 0 ? [`left behind: the keys ${held.join(', ')}`] : []),
    ...(attempts > MOST_ATTEMPTS ? [`a herd: ${attempts} attempts of a process in a second`] : []),
    ...(timers > 0 ? [`timers left: ${timers}`] : []),
  ];
}
