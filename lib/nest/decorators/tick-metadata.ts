import 'reflect-metadata';
import type { TickSchedule } from '../../ticks/ticks.js';
import type { TickZone } from '../../ticks/tick-zone.js';

// The metadata keys of @nestjs/schedule, which does not export them.
const CRON = 'SCHEDULE_CRON_OPTIONS';
const INTERVAL = 'SCHEDULE_INTERVAL_OPTIONS';
const TIMEOUT = 'SCHEDULE_TIMEOUT_OPTIONS';

interface CronMetadata extends TickZone {
  /** An expression, a `Date`, or a `DateTime` of luxon. */
  readonly cronTime: string | { valueOf(): number };
}

/** When `@nestjs/schedule` calls the method. Missing where it does not. */
export function scheduledBy(method: Function): TickSchedule | undefined {
  const cron = Reflect.getMetadata(CRON, method) as CronMetadata | undefined;
  if (cron) return cronSchedule(cron);
  const interval = Reflect.getMetadata(INTERVAL, method) as { timeout: number } | undefined;
  if (interval) return { kind: 'interval', ms: interval.timeout };
  return Reflect.hasMetadata(TIMEOUT, method) ? { kind: 'start' } : undefined;
}

function cronSchedule({ cronTime, timeZone, utcOffset }: CronMetadata): TickSchedule {
  if (typeof cronTime !== 'string') return { kind: 'date', at: cronTime.valueOf() };
  return { kind: 'cron', expression: cronTime, timeZone, utcOffset };
}
