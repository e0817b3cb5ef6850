import { aName, anAbortSignal, aWhole, checkOptions } from '../options/option-rules.js';
import type { OptionRules } from '../options/option-rules.js';

/** For how long to wait, and the actor for the audit. */
export interface LockDrainOptions {
  /**
   * Milliseconds for which the held locks may go on. `0`: no wait. `Infinity`: until the last one has ended.
   * @default 10_000
   */
  readonly within?: number | undefined;
  /** Ends the wait: `drain` rejects with its reason. The service stays drained. */
  readonly signal?: AbortSignal | undefined;
  /** For the event `audit`: why. */
  readonly reason?: string | undefined;
  /** For the event `audit`: the person or program that does it. */
  readonly actor?: string | undefined;
  /**
   * For the event `audit`: the tool of the actor.
   * @default 'code'
   */
  readonly via?: string | undefined;
}

const RULES: OptionRules<LockDrainOptions> = {
  within: aWhole('ms', { from: 0, orInfinity: true }),
  signal: anAbortSignal,
  reason: aName,
  actor: aName,
  via: aName,
};

export interface CheckedDrain extends LockDrainOptions {
  readonly within: number;
  readonly via: string;
}

/** Throws `TypeError` or `RangeError` naming the option. */
export function checkDrain(options: LockDrainOptions): CheckedDrain {
  checkOptions('locks.drain', options, RULES, '{ within: 10_000 }');
  return { ...options, within: options.within ?? 10_000, via: options.via ?? 'code' };
}
