import type { LockInspection } from '../../core/contract/lock-inspection.js';
import { holdModeOf } from '../../core/sharing/hold-mode.js';
import { showDuration } from './duration-text.js';
import { columns } from './columns.js';
import type { Output } from './output.js';

const HEADINGS = ['KEY', 'HOLDER', 'HELD FOR', 'REMAINING', 'TOKEN', 'WAITING'];

/** The table of `ls`. `withWaiters`: each waiter on a line of its own below the holder. */
export function lockTable(
  locks: readonly LockInspection[],
  output: Output,
  withWaiters: boolean,
): string {
  const heading = HEADINGS.map((each) => output.styled('bold', each));
  return columns([heading, ...locks.flatMap((lock) => rowsOf(lock, output, withWaiters))]);
}

function rowsOf(lock: LockInspection, output: Output, withWaiters: boolean): string[][] {
  const { key, remaining, fencingToken, waiterCount, waiters = [] } = lock;
  const cells = [
    output.styled('cyan', key),
    output.styled('reset', holderOf(lock)),
    lock.heldFor === undefined ? '-' : showDuration(lock.heldFor),
    remaining === undefined ? '-' : showDuration(remaining),
    fencingToken === undefined ? '-' : String(fencingToken),
    waiterCount === undefined ? '-' : String(waiterCount),
  ];
  if (!withWaiters) return [cells];
  return [cells, ...waiters.map((waiter) => ['', output.styled('dim', `waits: ${waiter}`)])];
}

function holderOf({ holder, holders, permits }: LockInspection): string {
  const mode = holdModeOf(permits);
  if (mode === 'write') return holder ?? 'unknown';
  const what = mode === 'read' ? 'read' : `${holders?.length ?? '?'} of ${permits} permits`;
  return `${what}: ${holders?.join(' ') ?? holder ?? 'unknown'}`;
}

/** The lines of `inspect` for a key that is held. */
export function lockFacts(lock: LockInspection, output: Output): string {
  const facts: [string, string | undefined][] = [
    ['key', lock.key],
    ['holder', holderOf(lock)],
    [
      'held for',
      lock.heldFor === undefined ? undefined : `${showDuration(lock.heldFor)}, at least`,
    ],
    ['remaining', lock.remaining === undefined ? undefined : showDuration(lock.remaining)],
    ['token', lock.fencingToken === undefined ? undefined : String(lock.fencingToken)],
    ['waiting', lock.waiterCount === undefined ? undefined : String(lock.waiterCount)],
    ...(lock.waiters ?? []).map((waiter): [string, string] => ['', waiter]),
  ];
  const rows = facts.flatMap(([name, value]) =>
    value === undefined ? [] : [[output.styled('bold', name), output.styled('reset', value)]],
  );
  return columns(rows);
}
