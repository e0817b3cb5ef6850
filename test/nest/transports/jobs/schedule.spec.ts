import { Injectable } from '@nestjs/common';
import { Cron, Interval, ScheduleModule, SchedulerRegistry, Timeout } from '@nestjs/schedule';
import { DistributedLock, LockService } from 'nest-holdfast';
import { LockControl, LockTestingModule } from 'nest-holdfast/testing';
import { until } from '../../../support/until.js';
import { startApp } from '../../support/test-app.js';
import { ERROR_NAMES, NestLog } from '../events/events-log.js';
import { TROUBLES } from '../support/troubles.js';

const ONCE_A_YEAR = '0 0 0 1 1 *';
const AT_ONCE = { waitTimeout: 0 };
const KEYS = ['cron', 'interval', 'timeout'].flatMap((job) => [`${job} above`, `${job} below`]);

@Injectable()
class Jobs {
  readonly ran = new Set<string>();

  constructor(readonly locks: LockService) {}

  @DistributedLock('cron above', AT_ONCE)
  @Cron(ONCE_A_YEAR, { name: 'above' })
  async cronAbove() {
    this.note();
  }

  @Cron(ONCE_A_YEAR, { name: 'below' })
  @DistributedLock('cron below', AT_ONCE)
  async cronBelow() {
    this.note();
  }

  @DistributedLock('interval above', AT_ONCE)
  @Interval('above', 10)
  async intervalAbove() {
    this.note();
  }

  @Interval('below', 10)
  @DistributedLock('interval below', AT_ONCE)
  async intervalBelow() {
    this.note();
  }

  @DistributedLock('timeout above', AT_ONCE)
  @Timeout('above', 1)
  async timeoutAbove() {
    this.note();
  }

  @Timeout('below', 1)
  @DistributedLock('timeout below', AT_ONCE)
  async timeoutBelow() {
    this.note();
  }

  private note() {
    this.ran.add(this.locks.current()!.key);
  }
}

/** Every job runs once, the intervals again and again. */
async function startJobs(control: LockControl) {
  const log = new NestLog();
  const app = await startApp({
    imports: [LockTestingModule.forRoot(control), ScheduleModule.forRoot()],
    providers: [Jobs],
    prepare: (each) => each.useLogger(log),
  });
  for (const name of ['above', 'below']) {
    void app.get(SchedulerRegistry).getCronJob(name).fireOnTick();
  }
  return { app, log, ran: app.get(Jobs).ran };
}

describe('jobs of @nestjs/schedule', () => {
  it('run under their locks, with the decorator above and below', async () => {
    const { app, ran } = await startJobs(new LockControl());
    await using _ = app;
    await until(() => ran.size === KEYS.length);
    expect([...ran].toSorted()).toEqual(KEYS.toSorted());
  });

  it.each(TROUBLES)('no caller waits for them, so the log has: $name', async (trouble) => {
    const control = new LockControl();
    for (const key of KEYS) trouble.strike(control, key);
    const { app, log, ran } = await startJobs(control);
    await using _ = app;
    for (const key of KEYS) await log.untilError("'Scheduler'", ERROR_NAMES[trouble.name], key);
    expect([...ran].toSorted()).toEqual(trouble.hasRun ? KEYS.toSorted() : []);
    control.reset();
    await until(() => ran.has('interval above') && ran.has('interval below'));
  });
});
