import { Injectable } from '@nestjs/common';
import { EventEmitter2, EventEmitterModule, OnEvent } from '@nestjs/event-emitter';
import { Cron, Interval, ScheduleModule, SchedulerRegistry, Timeout } from '@nestjs/schedule';
import { DistributedLock, LockService } from 'nest-holdfast';
import { until } from '../../../support/until.js';
import { startApp, type TestApp } from '../../support/test-app.js';

const ONCE_A_YEAR = '0 0 0 1 1 *';
const EVERY_SECOND = '* * * * * *';
const ONCE_PER_TICK = { waitTimeout: 0, onTimeout: 'skip', minHold: 30_000 } as const;

@Injectable()
class Jobs {
  ran: string[] = [];

  constructor(readonly locks: LockService) {}

  @DistributedLock('cron-above')
  @Cron(ONCE_A_YEAR, { name: 'above' })
  async above() {
    this.note('above');
  }

  @Cron(ONCE_A_YEAR, { name: 'below' })
  @DistributedLock('cron-below')
  async below() {
    this.note('below');
  }

  @DistributedLock('tick')
  @Cron(EVERY_SECOND)
  async tick() {
    this.note('tick');
  }

  @Cron(ONCE_A_YEAR, { name: 'fleet' })
  @DistributedLock('fleet', ONCE_PER_TICK)
  async fleet() {
    this.note('fleet');
  }

  @DistributedLock('interval')
  @Interval('interval', 5)
  async interval() {
    this.note('interval');
  }

  @Timeout(1)
  @DistributedLock('timeout')
  async timeout() {
    this.note('timeout');
  }

  @DistributedLock('event-above:<order.id>')
  @OnEvent('paid')
  async paidAbove(order: { id: number }) {
    this.note(`paid ${order.id}`);
  }

  @OnEvent('paid')
  @DistributedLock('event-below:<order.id>')
  async paidBelow(order: { id: number }) {
    this.note(`paid ${order.id}`);
  }

  private note(what: string) {
    this.ran.push(`${what} under ${this.locks.current()?.key}`);
  }
}

describe('methods that Nest calls at their time', () => {
  const imports = [ScheduleModule.forRoot(), EventEmitterModule.forRoot()];
  let app: TestApp;
  let jobs: Jobs;

  beforeAll(async () => {
    app = await startApp({ imports, providers: [Jobs] });
    jobs = app.get(Jobs);
  });
  afterAll(() => app[Symbol.asyncDispose]());
  beforeEach(() => (jobs.ran = []));

  const fire = (each: TestApp, name: string) =>
    each.get(SchedulerRegistry).getCronJob(name).fireOnTick();

  it.each(['above', 'below'])('@Cron, with the lock %s it', async (where) => {
    await fire(app, where);
    await until(() => jobs.ran.includes(`${where} under cron-${where}`));
    await until(() => app.isFree(`cron-${where}`));
  });

  it('@Cron by the clock', async () => {
    await until(() => jobs.ran.includes('tick under tick'));
  });

  it('@Interval and @Timeout', async () => {
    await until(() => jobs.ran.includes('interval under interval'));
    await using later = await startApp({ imports, providers: [Jobs] });
    await until(() => later.get(Jobs).ran.includes('timeout under timeout'));
  });

  it('@OnEvent, with the lock above and below it', async () => {
    await app.get(EventEmitter2).emitAsync('paid', { id: 3 });
    const paid = () => jobs.ran.filter((each) => each.startsWith('paid'));
    await until(() => paid().length === 2);
    expect(new Set(paid())).toEqual(
      new Set(['paid 3 under event-above:3', 'paid 3 under event-below:3']),
    );
  });

  it('run once per tick over the fleet', async () => {
    await app.elsewhere.withLock('fleet', { minHold: 30_000 }, async () => 'the same tick');
    await fire(app, 'fleet');
    expect(jobs.ran.filter((each) => each.startsWith('fleet'))).toEqual([]);
    expect(await app.isFree('fleet')).toBe(false);
  });
});
