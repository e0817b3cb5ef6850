import { optionError } from '../../core/options/option-error.js';
import { withLabel } from '../../core/text/with-label.js';
import { aName, checkOptions } from '../../core/options/option-rules.js';
import type { OptionRules } from '../../core/options/option-rules.js';
import { anEvery, atTick, scheduleOf } from '../../ticks/once-per-tick.js';
import type { TickOptions } from '../../ticks/once-per-tick.js';
import { ZONE_RULES } from '../../ticks/tick-zone.js';
import { Ticks, TICKS_RULES } from '../../ticks/ticks.js';
import type { TickSchedule } from '../../ticks/ticks.js';
import { carryOver, decoratedMethod, injectLocks, labelOf } from './decorated-method.js';
import { locksOf } from '../calls/locks-of.js';
import { parameterMarks } from '../keys/parameter-marks.js';
import { locksProperty } from '../plan/lock-tokens.js';
import { returnKind } from '../plan/return-kind.js';
import { scheduledBy } from './tick-metadata.js';

export interface OncePerTickOptions extends Partial<TickOptions> {
  /** Name of the instance that locks, as given to `forRoot({ name })`. */
  readonly locks?: string | undefined;
}

export type OncePerTickDecorator = <Method extends (...args: any[]) => Promise<unknown>>(
  target: object,
  property: string | symbol,
  descriptor: TypedPropertyDescriptor<Method>,
) => void;

const RULES: OptionRules<OncePerTickOptions> = {
  every: anEvery,
  ...ZONE_RULES,
  ...TICKS_RULES,
  locks: aName,
};

/**
 * Runs a job of `@nestjs/schedule` once for each tick, however many processes have it:
 *
 * ```ts
 * @Cron('0 0 2 * * *')
 * @OncePerTick('nightly')
 * async report() {}
 * ```
 *
 * Above or below `@Cron`, `@Interval` or `@Timeout`; a method that something else calls needs `every`. The first process that
 * asks for a tick runs it; in the others the method does not run, and the result is `undefined`. Throws `TypeError` or
 * `RangeError` naming the option when the class is defined. A call rejects as `LockService.withLock` does, but for a key that
 * is held.
 */
export function OncePerTick(name: string, options: OncePerTickOptions = {}): OncePerTickDecorator {
  return (target, property, descriptor) => {
    const label = labelOf('@OncePerTick', target, property);
    const method = decoratedMethod(label, target, descriptor);
    if (returnKind(label, target, property, method) !== 'promise') {
      throw optionError(`${label}: only a method that returns a promise can run once per tick`);
    }
    const ticks = laterTicks(label, name, options);
    const { locks: lockParameters } = parameterMarks(target, property);
    const ofLocks = locksProperty(options.locks);
    const once = async function (this: object, ...args: unknown[]): Promise<unknown> {
      const locks = locksOf(this, label, ofLocks);
      return atTick(locks, ticks(Reflect.get(target, property)), (lock) => {
        for (const index of lockParameters) args[index] = lock;
        return method.apply(this, args);
      });
    };
    carryOver(method, once);
    descriptor.value = once as never;
    injectLocks(target, options.locks);
  };
}

/** Checks the options now; the decorator that says when the method is due may still come. */
function laterTicks(label: string, name: string, options: OncePerTickOptions) {
  checkOptions(label, options, RULES, '{ every: 60_000 }');
  const { every, timeZone, utcOffset } = options;
  const given =
    every === undefined
      ? undefined
      : withLabel(label, () => scheduleOf({ every, timeZone, utcOffset }));
  if (!given && (timeZone ?? utcOffset) !== undefined) {
    throw optionError(`${label}: a time zone belongs to @Cron, or to a cron expression in every`);
  }
  const ticksOf = (schedule: TickSchedule) =>
    withLabel(label, () => new Ticks(name, schedule, options));
  let ticks = ticksOf(given ?? { kind: 'start' });
  let isKnown = given !== undefined;
  return (method: Function): Ticks => {
    if (!isKnown) ticks = ticksOf(scheduledBy(method) ?? refuse(label));
    isKnown = true;
    return ticks;
  };
}

function refuse(label: string): never {
  throw optionError(
    `${label}: the method has no @Cron, @Interval or @Timeout of @nestjs/schedule; say when it is called: ` +
      "every: 60_000, or a cron expression, every: '0 2 * * *'",
  );
}
