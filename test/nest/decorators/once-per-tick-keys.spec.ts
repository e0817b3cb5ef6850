import { errorOf } from '../../core/support/outcome.js';
import { CronTime } from 'cron';
import * as fc from 'fast-check';
import { CronExpression } from '../../../lib/ticks/cron-expression.js';
import { Ticks, type TickSchedule } from '../../../lib/ticks/ticks.js';

const TOLERANCE = 30_000;
const ZONES = ['UTC', 'Europe/Berlin', 'America/New_York', 'Asia/Kathmandu', 'Australia/Sydney'];
/** When the clocks of these zones change. */
const CHANGES = [
  '2026-03-08T07:00:00Z',
  '2026-03-29T01:00:00Z',
  '2026-04-04T16:00:00Z',
  '2026-10-03T16:00:00Z',
  '2026-10-25T01:00:00Z',
  '2026-11-01T06:00:00Z',
];

/** The tick that a call belongs to, by a clock that shows `now`. */
function tickAt(now: number | string, schedule: TickSchedule, tolerance = TOLERANCE): string {
  const time = typeof now === 'string' ? Date.parse(now) : now;
  return new Ticks('job', schedule, { tolerance, now: () => time }).key;
}

const cron = (expression: string, timeZone = 'UTC') =>
  ({ kind: 'cron', expression, timeZone }) as const;

describe('The tick of a cron job', () => {
  it.each([
    ['02:00:00.000', '02:00:00'],
    ['02:00:00.003', '02:00:00'],
    ['02:00:04.900', '02:00:00'], // a busy machine
    ['01:59:59.995', '02:00:00'], // a timer that fires early
    ['02:00:30.900', '02:00:00'],
    ['02:00:31.000', '02:00:31'], // later than the tolerance: a call of its own
    ['14:07:09.512', '14:07:09'], // by hand
  ])('of a call at %s is the scheduled %s', (called, tick) => {
    const key = tickAt(`2026-11-21T${called}Z`, cron('0 0 2 * * *'));
    expect(key).toBe(`job@2026-11-21T${tick}.000Z`);
  });

  it.each([
    ['0 2 * * *', '2026-11-21T02:00:05Z', '2026-11-21T02:00:00.000Z'],
    ['*/5 * * * * *', '2026-11-21T02:00:07Z', '2026-11-21T02:00:05.000Z'],
    ['0 0 9-17/4 * * MON-FRI', '2026-11-20T13:00:02Z', '2026-11-20T13:00:00.000Z'],
    ['@daily', '2026-11-21T00:00:01Z', '2026-11-21T00:00:00.000Z'],
    ['0 0 0 13 * 5', '2026-11-20T00:00:01Z', '2026-11-20T00:00:00.000Z'], // either of the days
    ['0 0 0 * JAN 7', '2026-01-04T00:00:01Z', '2026-01-04T00:00:00.000Z'], // Sunday is 0 and 7
  ])('%s at %s', (expression, called, tick) => {
    expect(tickAt(called, cron(expression))).toBe(`job@${tick}`);
  });

  it('is read in the time zone of the job', () => {
    const called = '2026-07-01T00:00:02Z';
    expect(tickAt(called, cron('0 0 2 * * *', 'Europe/Berlin'))).toContain('T00:00:00.000Z');
    expect(tickAt(called, cron('0 0 2 * * *'))).toContain('T00:00:02.000Z'); // it is not due there
    const ahead = { kind: 'cron', expression: '0 0 2 * * *', utcOffset: 120 } as const;
    expect(tickAt(called, ahead)).toContain('T00:00:00.000Z');
  });

  it.each([
    ['UTC+2', '2026-07-01T00:00:00.000Z'],
    ['utc-05:30', '2026-07-01T07:30:00.000Z'],
  ])('is read at the offset %s, as by the scheduler', (zone, due) => {
    expect(new CronTime('0 0 2 * * *', zone).sendAt().toUTC().toFormat('HH:mm')).toBe(
      due.slice(11, 16),
    );
    expect(tickAt(Date.parse(due) + 2_000, cron('0 0 2 * * *', zone))).toBe(`job@${due}`);
  });

  it.each(['local', 'system', 'default'])('is read in the zone of the process: %s', (zone) => {
    const local = new Date(2026, 6, 1, 2).getTime();
    expect(tickAt(local + 2_000, cron('0 0 2 * * *', zone))).toBe(
      `job@${new Date(local).toISOString()}`,
    );
  });

  it('is every moment that the scheduler means, however late within the tolerance', () => {
    const field = (low: number, high: number) =>
      fc.oneof(
        fc.constant('*'),
        fc.integer({ min: low, max: high }).map(String),
        fc.integer({ min: 2, max: 20 }).map((step) => `*/${step}`),
        fc
          .tuple(fc.integer({ min: low, max: high }), fc.integer({ min: low, max: high }))
          .map(([a, b]) => `${Math.min(a, b)}-${Math.max(a, b)}`),
      );
    const expressions = fc
      .tuple(
        fc.integer({ min: 0, max: 59 }),
        field(0, 59),
        field(0, 23),
        field(1, 28),
        field(1, 12),
        field(0, 7),
      )
      .map((fields) => fields.join(' '));
    const moments = fc.oneof(
      fc.date({
        min: new Date('2026-01-01T00:00:00Z'),
        max: new Date('2027-12-31T00:00:00Z'),
        noInvalidDate: true,
      }),
      fc
        .tuple(fc.constantFrom(...CHANGES), fc.integer({ min: -21_600, max: 7_200 }))
        .map(([change, seconds]) => new Date(Date.parse(change) + seconds * 1_000)),
    );
    fc.assert(
      fc.property(
        expressions,
        moments,
        fc.constantFrom(...ZONES),
        fc.integer({ min: 0, max: TOLERANCE }),
        (expression, moment, timeZone, delay) => {
          const time = new CronTime(expression, timeZone);
          const due = time.getNextDateFrom(moment, timeZone);
          const next = time.getNextDateFrom(due.toJSDate(), timeZone).toMillis();
          fc.pre(next > due.toMillis() && due.toMillis() > moment.getTime()); // it goes back on some nights
          const late = Math.min(due.toMillis() + delay, next - 11);
          const tick = tickAt(late, cron(expression, timeZone));
          expect(tick).toBe(`job@${due.toJSDate().toISOString()}`);
        },
      ),
      { numRuns: 300 },
    );
  });

  describe('on the night the clocks change', () => {
    it.each([
      // Skipped: the scheduler calls at the first moment after the gap.
      ['Europe/Berlin', '30 2 * * *', '2026-03-29T01:00:00.000Z'],
      ['Europe/Berlin', '*/10 15-45 2 * * *', '2026-03-29T01:00:00.000Z'],
      ['America/New_York', '6 54 2 * * *', '2026-03-08T07:00:06.000Z'],
      ['America/St_Johns', '44 2 * * *', '2026-03-08T05:30:00.000Z'],
      // Skipped, in the southern hemisphere: it calls an hour later than it says.
      ['Australia/Sydney', '30 2 * * *', '2026-10-03T16:30:00.000Z'],
      // Behind the hour that comes twice: it calls an hour early.
      ['America/New_York', '11 2 * * *', '2026-11-01T06:11:00.000Z'],
      ['Australia/Sydney', '*/7 3 * * *', '2026-04-04T16:00:00.000Z'],
      // In the hour that comes twice, and on other nights.
      ['Europe/Berlin', '30 2 * * *', '2026-10-25T00:30:00.000Z'],
      ['Europe/Berlin', '30 2 * * *', '2026-03-28T01:30:00.000Z'],
    ])('%s, %s: is that of %s on every machine', (timeZone, expression, due) => {
      const before = Date.parse(due) - 50 * 60_000;
      const called = new CronTime(expression, timeZone).getNextDateFrom(new Date(before), timeZone);
      expect(called.toJSDate().toISOString()).toBe(due);
      for (const late of [-5, 0, 700, 1_400, 9_000]) {
        expect(tickAt(called.toMillis() + late, cron(expression, timeZone))).toBe(`job@${due}`);
      }
    });

    it('does not take what was due before the gap for what is due after it', () => {
      const schedule = cron('36 59 1-17 * * *', 'America/St_Johns');
      expect(tickAt('2026-03-08T05:30:01Z', schedule)).toBe('job@2026-03-08T05:29:36.000Z');
      expect(tickAt('2026-03-08T05:30:36Z', schedule)).toBe('job@2026-03-08T05:30:36.000Z');
    });
  });

  it('says whether its schedule means it', () => {
    const at = (time: string) => new Ticks('job', cron('0 0 2 * * *'), { now: () => Date.parse(time) }).tick; // prettier-ignore
    expect(at('2026-11-21T02:00:04Z').isScheduled).toBe(true);
    expect(at('2026-11-21T14:07:09Z')).toEqual({ key: 'job@2026-11-21T14:07:09.000Z', isScheduled: false }); // prettier-ignore
  });

  it.each([
    '',
    '* * * *',
    '60 * * * * *',
    '* * * 0 * *',
    '5-1 * * * *',
    '*/0 * * * *',
    'x * * * *',
  ])('%j is refused, as the scheduler refuses it', (expression) => {
    expect(() => new CronExpression(expression)).toThrow(/^not a cron expression: /);
    expect(() => new CronTime(expression)).toThrow();
  });

  it.each(['constructor', '__proto__', 'redis://user:hunter2@host', 'x'.repeat(100_000)])(
    '%.20j is refused, with a code, and shown in part and without a secret',
    (expression) => {
      const refusal = errorOf(() => new CronExpression(expression));
      expect(refusal).toMatchObject({ code: 'LOCK_OPTION_INVALID' });
      expect(refusal.message).toMatch(/^not a cron expression: "/);
      expect(refusal.message).not.toContain('hunter2');
      expect(refusal.message.length).toBeLessThan(300);
    },
  );
});

describe('Other ticks', () => {
  const every10s = { kind: 'interval', ms: 10_000 } as const;

  it.each([
    ['10.000', '10'],
    ['19.999', '10'],
    ['20.001', '20'],
  ])('an interval of ten seconds at %s', (seconds, tick) => {
    expect(tickAt(`2026-11-21T02:00:${seconds}Z`, every10s)).toBe(
      `job@2026-11-21T02:00:${tick}.000Z`,
    );
  });

  it('a date is its own tick, and a start has no time', () => {
    const at = Date.parse('2026-11-21T02:00:00Z');
    expect(tickAt(at + 70_000, { kind: 'date', at })).toBe('job@2026-11-21T02:00:00.000Z');
    expect(tickAt(at, { kind: 'start' })).toBe('job@start');
  });

  it('stay taken for the tolerance, that of an interval for its length beside', () => {
    expect(new Ticks('a', cron('* * * * *')).options).toMatchObject({ minHold: 30_000, ttl: 30_000 }); // prettier-ignore
    expect(new Ticks('a', every10s).options).toMatchObject({ minHold: 40_000, ttl: 40_000 });
    const longest = { kind: 'interval', ms: 2_147_483_647 } as const;
    expect(new Ticks('a', longest).options.minHold).toBe(2_147_483_647); // the longest delay of a timer
  });

  it('follow the clock of the machine when it is set', () => {
    const ticks = new Ticks('job', every10s);
    jest.useFakeTimers({ doNotFake: ['performance'], now: Date.parse('2026-11-21T02:00:12Z') });
    try {
      expect(ticks.key).toBe('job@2026-11-21T02:00:10.000Z');
      jest.setSystemTime(Date.parse('2026-11-21T01:00:12Z'));
      expect(ticks.key).toBe('job@2026-11-21T01:00:10.000Z');
    } finally {
      jest.useRealTimers();
    }
  });
});
