import { BullModule, getQueueToken, OnWorkerEvent, Processor } from '@nestjs/bullmq';
import { Scope } from '@nestjs/common';
import { DelayedError, type Job, type JobsOptions, type Queue, UnrecoverableError } from 'bullmq';
import { DistributedLock, type LockTimeoutError } from 'nest-holdfast';
import { RedisServer } from '../../../support/servers/redis-server.js';
import { until } from '../../../support/until.js';
import { openTransport, type TransportApp } from '../support/transport-app.js';
import { type Order, Recorded } from '../support/recorded-jobs.js';
import { TROUBLES } from '../support/troubles.js';

const AT_ONCE = { waitTimeout: 0 };
const PATIENT = { waitTimeout: Infinity };
const RETRIED: JobsOptions = { attempts: 50, backoff: { type: 'fixed', delay: 20 } };

@Processor('impatient')
class Impatient extends Recorded {
  readonly heard: string[] = [];

  @DistributedLock('order:<job.data.id>', AT_ONCE)
  override async process(job: Job<Order>): Promise<string> {
    const result = this.record(job);
    if (job.data.id === 'hopeless') throw new UnrecoverableError('of the work');
    return result;
  }

  @DistributedLock('heard:<job.data.id>')
  @OnWorkerEvent('completed')
  async above(job: Job<Order>) {
    this.heard.push(`above ${job.data.id} ${this.locks.current()?.key}`);
  }

  @OnWorkerEvent('completed')
  @DistributedLock('heard:<job.data.id>')
  async below(job: Job<Order>) {
    this.heard.push(`below ${job.data.id} ${this.locks.current()?.key}`);
  }
}

@Processor('patient', {
  lockDuration: 30_000,
  lockRenewTime: 20,
  stalledInterval: 20,
  maxStalledCount: 0,
})
class Patient extends Recorded {
  readonly stalled: string[] = [];

  @DistributedLock('order:<job.data.id>', PATIENT)
  override async process(job: Job<Order>, _token?: string, _signal?: AbortSignal): Promise<string> {
    return this.record(job);
  }

  @OnWorkerEvent('stalled')
  onStalled(id: string) {
    this.stalled.push(id);
  }
}

@Processor('deferring')
class Deferring extends Recorded {
  @DistributedLock('order:<job.data.id>', {
    waitTimeout: 0,
    async onTimeout(_error: LockTimeoutError, job: Job<Order>, token: string) {
      await job.moveToDelayed(Date.now() + 20, token);
      throw new DelayedError();
    },
  })
  override async process(job: Job<Order>, _token?: string): Promise<string> {
    return this.record(job);
  }
}

@Processor('cancelled')
class Cancelled extends Recorded {
  override async process(job: Job<Order>, _token?: string, signal?: AbortSignal): Promise<string> {
    const key = `order:${job.data.id}`;
    return this.locks.withLock(key, { ...PATIENT, signal }, async () => this.record(job));
  }
}

@Processor({ name: 'scoped', scope: Scope.REQUEST })
class Scoped extends Recorded {
  @DistributedLock('order:<job.data.id>', AT_ONCE)
  override async process(job: Job<Order>): Promise<string> {
    return this.record(job);
  }
}

const PROCESSORS = {
  impatient: Impatient,
  patient: Patient,
  deferring: Deferring,
  cancelled: Cancelled,
  scoped: Scoped,
};

describe('BullMQ', () => {
  let redis: RedisServer;
  let transport: TransportApp;

  beforeAll(async () => {
    redis = await RedisServer.shared();
    const connection = { host: '127.0.0.1', port: redis.port };
    const queues = Object.keys(PROCESSORS).map((name) => ({ name }));
    transport = await openTransport({
      imports: [BullModule.forRoot({ connection }), BullModule.registerQueue(...queues)],
      providers: Object.values(PROCESSORS),
    });
  });
  afterAll(async () => {
    await transport?.[Symbol.asyncDispose]();
    await redis?.stop();
  });
  afterEach(() => {
    transport.control.reset();
    for (const type of [Impatient, Patient, Deferring, Cancelled]) {
      const { ran, failures } = transport.get<Recorded>(type);
      ran.length = failures.length = 0;
    }
  });

  const queue = (name: keyof typeof PROCESSORS) =>
    transport.app.get<Queue<Order>>(getQueueToken(name));
  const add = (name: keyof typeof PROCESSORS, id: string, options?: JobsOptions) =>
    queue(name).add('job', { id }, options);
  const ended = (name: keyof typeof PROCESSORS, { id }: Job<Order>) =>
    until(async () => {
      const job = (await queue(name).getJob(id!)) as Job<Order>;
      return job.finishedOn === undefined ? undefined : job;
    });

  it.each(['impatient', 'scoped'] as const)('locks a processor: %s', async (name) => {
    const { returnvalue } = await ended(name, await add(name, '1'));
    expect(returnvalue).toBe('under order:1');
  });

  it('locks listeners of a worker, with the lock above and below', async () => {
    const { heard } = transport.get(Impatient);
    await add('impatient', '2');
    await until(() => heard.filter((each) => each.includes(' 2 ')).length === 2);
    expect(heard).toEqual(expect.arrayContaining(['above 2 heard:2', 'below 2 heard:2']));
  });

  it.each(TROUBLES)('a lock that is $name fails the job', async ({ code, hasRun, strike }) => {
    strike(transport.control, 'order:3');
    const { failedReason, attemptsMade } = await ended('impatient', await add('impatient', '3'));
    expect(failedReason).toContain('order:3');
    expect(attemptsMade).toBe(1);
    const { failures, ran } = transport.get(Impatient);
    await until(() => failures.length > 0); // BullMQ tells the worker after it told Redis
    expect(failures).toMatchObject([{ code }]);
    expect(ran).toHaveLength(hasRun ? 1 : 0);
  });

  it.each(TROUBLES)(
    'a lock that was $name is tried again, if the job has attempts',
    async (trouble) => {
      trouble.strike(transport.control, 'order:4');
      const job = await add('impatient', '4', RETRIED);
      await until(() => transport.get(Impatient).failures.length > 0);
      transport.control.free();
      const { returnvalue, attemptsMade } = await ended('impatient', job);
      expect(returnvalue).toBe('under order:4');
      expect(attemptsMade).toBeGreaterThan(1);
    },
  );

  it('an error of the work is what BullMQ gets: it does not try again what is hopeless', async () => {
    const { failedReason, attemptsMade } = await ended(
      'impatient',
      await add('impatient', 'hopeless', RETRIED),
    );
    expect([failedReason, attemptsMade]).toEqual(['of the work', 1]);
    await until(() => transport.get(Impatient).failures.length > 0);
    expect(transport.get(Impatient).failures[0]).toBeInstanceOf(UnrecoverableError);
  });

  it('a job that waits keeps the lock of BullMQ, does not stall, and is not to be cancelled', async () => {
    const elsewhere = transport.control.hold('order:5');
    const job = await add('patient', '5');
    await transport.control.untilWaiting('order:5');
    const { worker } = transport.get(Patient);
    expect(worker.cancelJob(job.id!)).toBe(true); // the signal is the method's, which does not run yet
    let renewals = 0;
    worker.on('locksRenewed', () => (renewals += 1));
    await until(() => renewals >= 5);
    elsewhere.release();
    expect((await ended('patient', job)).returnvalue).toBe('under order:5');
    expect(transport.get(Patient).stalled).toEqual([]);
    expect(transport.get(Patient).ran).toEqual(['5']);
  });

  it('onTimeout may put the job off, which costs it no attempt', async () => {
    const elsewhere = transport.control.hold('order:6');
    const job = await add('deferring', '6');
    await until(async () => (await job.getState()) === 'delayed');
    elsewhere.release();
    const { returnvalue, attemptsMade } = await ended('deferring', job);
    expect(returnvalue).toBe('under order:6');
    expect(attemptsMade).toBe(1);
  });

  it('the signal of a job that is cancelled ends its wait, where it is given to withLock', async () => {
    transport.control.hold('order:8');
    const job = await add('cancelled', '8');
    await transport.control.untilWaiting('order:8');
    transport.get(Cancelled).worker.cancelJob(job.id!, 'not wanted any more');
    await ended('cancelled', job);
    const { ran, failures } = transport.get(Cancelled);
    await until(() => failures.length > 0);
    expect(failures).toEqual(['not wanted any more']);
    expect(ran).toEqual([]);
    expect(transport.control.waiters()).toBe(0);
  });
});
