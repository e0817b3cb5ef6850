import { LockTimeoutError } from '../core/contract/lock-errors.js';
import { a, checkOptions, needed } from '../core/options/option-rules.js';
import type { OptionRules } from '../core/options/option-rules.js';
import type { LockScope } from '../core/scope/lock-scope.js';
import type { LockService } from '../core/lock.service.js';
import type { Lock } from '../core/scope/lock.js';
import { Ticks, TICKS_RULES } from './ticks.js';
import type { TicksOptions, TickSchedule } from './ticks.js';
import { ZONE_RULES } from './tick-zone.js';
import type { TickZone } from './tick-zone.js';

/** When a job is due, and how far the machines may be apart. */
export interface TickOptions extends TicksOptions, TickZone {
  /** Milliseconds from one tick to the next, or a cron expression of five fields, or of six with the seconds in front. */
  readonly every: number | string;
}

export const anEvery = a(
  "a number of ms or a cron expression, such as '0 2 * * *'",
  (value) => typeof value === 'number' || typeof value === 'string',
);

const RULES: OptionRules<TickOptions> = { every: needed(anEvery), ...ZONE_RULES, ...TICKS_RULES };

/**
 * Runs `work` if no other process has run it for the same tick, and resolves `undefined` otherwise. Call it at each tick, from
 * a scheduler of every process:
 *
 * ```ts
 * cron.schedule('0 2 * * *', () => oncePerTick(locks, 'nightly', { every: '0 2 * * *' }, report));
 * ```
 *
 * Throws `TypeError` or `RangeError` naming the option. Rejects as `LockService.withLock` does, but for a key that is held.
 */
export async function oncePerTick<T>(
  locks: LockService,
  name: string,
  options: TickOptions,
  work: (lock: Lock) => T | Promise<T>,
): Promise<T | undefined> {
  checkOptions('oncePerTick', options, RULES, '{ every: 60_000 }');
  return atTick(locks, new Ticks(name, scheduleOf(options), options), work);
}

/** The schedule that `every` names. */
export function scheduleOf({ every, timeZone, utcOffset }: TickOptions): TickSchedule {
  if (typeof every === 'number') return { kind: 'interval', ms: every };
  return { kind: 'cron', expression: every, timeZone, utcOffset };
}

/** Runs `work` under the tick that is due, unless another caller has it. */
export async function atTick<T>(
  locks: LockService,
  ticks: Ticks,
  work: (lock: Lock) => T | Promise<T>,
): Promise<T | undefined> {
  const { key, isScheduled } = ticks.tick;
  if (!isScheduled) {
    const { storeName: store } = locks;
    locks.events.publish('unscheduled', () => ({ tick: ticks.name, key, store }));
  }
  let scope: LockScope;
  try {
    scope = await locks.enter(key, ticks.options);
  } catch (error) {
    if (error instanceof LockTimeoutError) return undefined;
    throw error;
  }
  return scope.hold(work);
}
