import { Cron, Interval, Timeout } from '@nestjs/schedule';
import { scheduledBy } from '../../../lib/nest/decorators/tick-metadata';

const AT = new Date(1_800_000_000_000);

class Jobs {
  @Cron('0 2 * * *', { timeZone: 'Europe/Paris' })
  nightly() {}

  @Cron('0 2 * * *', { utcOffset: 60 })
  offset() {}

  @Cron(AT)
  once() {}

  @Interval(5_000)
  often() {}

  @Timeout(100)
  late() {}

  never() {}
}

describe('The schedule of a job', () => {
  it.each([
    ['nightly', { kind: 'cron', expression: '0 2 * * *', timeZone: 'Europe/Paris' }],
    ['offset', { kind: 'cron', expression: '0 2 * * *', utcOffset: 60 }],
    ['once', { kind: 'date', at: AT.valueOf() }],
    ['often', { kind: 'interval', ms: 5_000 }],
    ['late', { kind: 'start' }],
    ['never', undefined],
  ] as const)('is that of @nestjs/schedule: %s', (property, expected) => {
    expect(scheduledBy(Reflect.get(Jobs.prototype, property) as Function)).toEqual(expected);
  });
});
