import { Injectable } from '@nestjs/common';
import { Cron, Interval, ScheduleModule, SchedulerRegistry, Timeout } from '@nestjs/schedule';
import {
  CurrentLock,
  DistributedLock,
  type Lock,
  LockService,
  MemoryLockStore,
} from 'nest-holdfast';
import { FakeClock } from 'nest-holdfast/testing';
import { oncePerTick } from 'nest-holdfast/core';
import { OncePerTick } from 'nest-holdfast';
import { ControlledStore } from '../support/controlled-store.js';
import { Deferred } from '../support/deferred.js';
import { startApp, type TestApp } from '../support/test-app.js';

const ONCE_A_DAY = '0 0 2 * * *';
const DUE = Date.parse('2026-11-21T02:00:00.000Z');
const A_DAY = 86_400_000;

/** The time of the machine's clock. */
let time = DUE;
const now = () => time;

@Injectable()
class Jobs {
  ran: string[] = [];
  work: Promise<unknown> = Promise.resolve();

  constructor(readonly locks: LockService) {}

  @OncePerTick('above', { now })
  @Cron(ONCE_A_DAY, { name: 'above', timeZone: 'UTC' })
  async above() {
    return this.note('above');
  }

  @Cron(ONCE_A_DAY, { name: 'below', timeZone: 'UTC' })
  @OncePerTick('below', { now, tolerance: 5_000 })
  async below() {
    return this.note('below');
  }

  @Cron(new Date('2126-01-01T00:00:00Z'), { name: 'date' })
  @OncePerTick('date', { now })
  async date() {
    return this.note('date');
  }

  @Interval('interval', 3_600_000)
  @OncePerTick('interval', { now })
  async interval() {
    return this.note('interval');
  }

  @OncePerTick('warm-up', { now })
  @Timeout('timeout', 3_600_000)
  async warmUp() {
    return this.note('warm-up');
  }

  @OncePerTick('dynamic', { every: ONCE_A_DAY, timeZone: 'Europe/Berlin', now })
  async dynamic(name: string, @CurrentLock() lock?: Lock) {
    return this.note(`${name} with ${lock?.key}`);
  }

  @OncePerTick('alone', { every: 60_000, now })
  @DistributedLock('alone', { waitTimeout: 0, onTimeout: 'skip' })
  async alone() {
    return this.note('alone');
  }

  @OncePerTick('nobody', { now })
  async nobody() {
    return this.note('nobody');
  }

  private async note(what: string) {
    this.ran.push(`${what} under ${this.locks.current()?.key}`);
    await this.work;
    return what;
  }
}

describe('@OncePerTick', () => {
  const imports = [ScheduleModule.forRoot()];
  let clock: FakeClock;
  let store: ControlledStore;
  let machines: TestApp[];
  let [a, b]: Jobs[] = [];

  beforeEach(async () => {
    time = DUE;
    clock = new FakeClock(1_000);
    store = new ControlledStore(clock);
    const start = () => startApp({ imports, providers: [Jobs], lockOptions: { store, clock } });
    machines = [await start(), await start()];
    [a, b] = machines.map((machine) => machine.get(Jobs));
  });
  afterEach(async () => {
    for (const machine of machines) await machine[Symbol.asyncDispose]();
  });

  const ran = () => [...a!.ran, ...b!.ran];

  it.each(['above', 'below'])('runs a cron job once, from %s @Cron', async (name) => {
    const fire = (machine: TestApp) => machine.get(SchedulerRegistry).getCronJob(name).fireOnTick();
    time = DUE + 3;
    await fire(machines[0]!);
    await clock.advance(2_000);
    time = DUE + 1_700; // by its clock, which is behind, and it is busy
    await fire(machines[1]!);
    await clock.advance(0);
    expect(ran()).toEqual([`${name} under ${name}@2026-11-21T02:00:00.000Z`]);

    time = DUE + A_DAY;
    await fire(machines[1]!);
    await clock.advance(0);
    expect(ran()).toHaveLength(2);
    expect(b!.ran).toEqual([`${name} under ${name}@2026-11-22T02:00:00.000Z`]);
  });

  it('gives the result of the job where it runs, and undefined where it does not', async () => {
    expect(await a!.above()).toBe('above');
    expect(await b!.above()).toBeUndefined();
    expect(await a!.above()).toBeUndefined(); // nor does it run twice in one process
  });

  it('keeps a tick taken for the tolerance after a job that was short, and no longer', async () => {
    await a!.below();
    await clock.advance(4_999);
    expect(await b!.below()).toBeUndefined();
    await clock.advance(1);
    expect(await b!.below()).toBe('below');
  });

  it('keeps a tick taken while its job runs, which blocks no other tick', async () => {
    const end = new Deferred();
    a!.work = end.promise;
    const first = a!.below();
    await clock.advance(300_000);
    expect(await b!.below()).toBeUndefined();
    time += A_DAY;
    expect(await b!.below()).toBe('below');
    end.resolve();
    expect(await first).toBe('below');
  });

  it('takes a date as the tick of a job that is due once', async () => {
    await a!.date();
    await b!.date();
    expect(ran()).toEqual(['date under date@2126-01-01T00:00:00.000Z']);
  });

  it('runs an interval once in each, with any phases of the machines', async () => {
    time = DUE + 10;
    await a!.interval();
    time = DUE + 3_599_990;
    await clock.advance(3_599_980);
    expect(await b!.interval()).toBeUndefined();
    time = DUE + 3_600_010;
    await clock.advance(20);
    await a!.interval();
    expect(ran()).toEqual(['0', '1'].map((n) => `interval under interval@2026-11-21T0${2 + Number(n)}:00:00.000Z`)); // prettier-ignore
  });

  it('runs an interval once where clocks that are apart stand on both sides of its edge', async () => {
    time = DUE + 3_600_001; // two seconds ahead
    await a!.interval();
    await clock.advance(2_000 + 3_600_000 - 2);
    time = DUE + 2 * 3_600_000 - 1; // the other one, at the end of the same hour by its own clock
    expect(await b!.interval()).toBeUndefined();
  });

  it('runs @Timeout once for all that start together', async () => {
    expect(await a!.warmUp()).toBe('warm-up');
    time += 20_000;
    await clock.advance(20_000);
    expect(await b!.warmUp()).toBeUndefined();
    await clock.advance(10_000);
    expect(await b!.warmUp()).toBe('warm-up'); // a later start
  });

  it('is told by `every` when a job is due that something else calls, and passes the lock', async () => {
    time = Date.parse('2026-11-21T01:00:04Z');
    expect(await a!.dynamic('x')).toBe('x with dynamic@2026-11-21T01:00:00.000Z');
    expect(await b!.dynamic('x')).toBeUndefined();
  });

  it('with @DistributedLock below it, skips a tick while the one before still runs', async () => {
    const end = new Deferred();
    a!.work = end.promise;
    const first = a!.alone();
    await clock.advance(0);
    time += 60_000;
    expect(await b!.alone()).toBeUndefined();
    end.resolve();
    expect(await first).toBe('alone');
    time += 60_000;
    expect(await b!.alone()).toBe('alone');
  });

  it('lets an error of the job through, and the tick is done', async () => {
    const error = new Error('of the job');
    a!.work = Promise.reject(error);
    await expect(a!.above()).rejects.toBe(error);
    expect(await b!.above()).toBeUndefined();
  });

  it('gives a tick back when the application is closed in the middle', async () => {
    a!.work = new Promise(() => {});
    const first = a!.above();
    first.catch(() => {}); // it never ends
    await clock.advance(0);
    await machines[0]!.app.close();
    expect(await b!.above()).toBe('above');
  });

  it('does not run without a store', async () => {
    store.answer = Promise.reject(new Error('down'));
    await expect(a!.above()).rejects.toMatchObject({ code: 'LOCK_STORE_FAILED' });
    expect(ran()).toEqual([]);
  });

  it('does not take an error of the job for a tick that is taken', async () => {
    await machines[1]!.locks.acquire('other');
    a!.work = machines[0]!.locks.acquire('other', { waitTimeout: 0 });
    await expect(a!.above()).rejects.toMatchObject({ code: 'LOCK_TIMEOUT', key: 'other' });
  });

  it('refuses a method that nothing says when to call', async () => {
    await expect(a!.nobody()).rejects.toThrow(
      /^@OncePerTick on Jobs\.nobody: the method has no @Cron, @Interval or @Timeout/,
    );
  });
});

describe('oncePerTick', () => {
  it('does the same without Nest', async () => {
    const locks = new LockService(new MemoryLockStore());
    const run = () =>
      oncePerTick(locks, 'nightly', { every: '0 2 * * *', timeZone: 'UTC', now }, (lock) => lock.key); // prettier-ignore
    time = DUE + 900;
    expect(await run()).toBe('nightly@2026-11-21T02:00:00.000Z');
    expect(await run()).toBeUndefined();
    time += A_DAY;
    expect(await run()).toBe('nightly@2026-11-22T02:00:00.000Z');
    await locks.close();
  });

  it('tells of a tick that it names by the second of the call, on each machine', async () => {
    const store = new MemoryLockStore();
    const [locks, others] = [new LockService(store), new LockService(store)];
    const told: unknown[] = [];
    for (const each of [locks, others]) each.events.on('unscheduled', (event) => told.push(event));
    const run = (by: LockService) =>
      oncePerTick(by, 'nightly', { every: '0 2 * * *', timeZone: 'UTC', now }, (lock) => lock.key);
    time = DUE + 900;
    expect(await run(locks)).toBe('nightly@2026-11-21T02:00:00.000Z');
    expect(told).toEqual([]);
    time = DUE + 3_600_000;
    const key = 'nightly@2026-11-21T03:00:00.000Z';
    expect([await run(locks), await run(others)]).toEqual([key, undefined]);
    expect(told).toEqual([
      { tick: 'nightly', key, store: 'memory' },
      { tick: 'nightly', key, store: 'memory' },
    ]);
    time += 1_000;
    expect(await run(others)).toBe('nightly@2026-11-21T03:00:01.000Z');
    await Promise.all([locks.close(), others.close()]);
  });

  it('goes by its own options, with any defaults of other locks', async () => {
    const defaults = { maxHold: 10, autoExtend: false, waitTimeout: Infinity, ttl: 10 };
    const locks = new LockService(new MemoryLockStore(), defaults);
    const run = () => oncePerTick(locks, 'nightly', { every: 60_000, now }, () => 'done');
    expect([await run(), await run()]).toEqual(['done', undefined]);
    await locks.close();
  });
});
