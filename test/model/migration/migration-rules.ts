import type { Mode } from './migration-state';

/** Where the fencing tokens of the two stores come from. */
export type Numbers =
  /** Each key has a counter that a request can raise. */
  | 'counters'
  /** The target counts revisions, which are small, and no request raises them. */
  | 'target revisions'
  /** The source does. */
  | 'source revisions';

/** The rules of the processes. Those that are missing are kept. */
export interface Rules {
  readonly numbers: Numbers;
  /** Above all tokens of the old configuration. */
  readonly base: number;
  /** A process with the target alone grants nothing before the barrier. */
  readonly hasBarrier: boolean;
  /** The counter of the source is raised to a token before that is handed out. */
  readonly raisesSource: boolean;
  /** A process in `dual` takes the target's token once another process is in `handover`. */
  readonly followsHandover: boolean;
}

export const RULES: Rules = {
  numbers: 'counters',
  base: 0,
  hasBarrier: true,
  raisesSource: true,
  followsHandover: true,
};

/** By how much a counter may grow with a grant: it is at least the clock. */
export const JUMPS: readonly number[] = [1, 2];

/** The token of a process that has both stores. */
export function tokenOf(mode: Mode, source: number, target: number, rules: Rules): number {
  const { numbers, base, followsHandover } = rules;
  if (numbers === 'counters') return Math.max(source, target);
  const isTargets = mode === 'handover' || (followsHandover && isHandedOver(source, target, rules));
  const raised = numbers === 'target revisions' ? base + target : target;
  return isTargets ? raised : source;
}

/** The counter that can be raised tells. */
function isHandedOver(source: number, target: number, { numbers, base }: Rules): boolean {
  return (numbers === 'target revisions' ? source : target) >= base;
}

/** The counter of the target after a grant to a process that has `floor` from the source. */
export function targetCounter(before: number, floor: number, mode: Mode, rules: Rules): number {
  if (rules.numbers === 'target revisions') return before + 1;
  const least = rules.numbers === 'source revisions' && mode === 'handover' ? rules.base : 0;
  return Math.max(before + 1, floor, least);
}
