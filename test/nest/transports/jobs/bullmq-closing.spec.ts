import { BullModule, Processor } from '@nestjs/bullmq';
import type { ModuleMetadata } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import { type Job, Queue } from 'bullmq';
import { DistributedLock, DistributedLockModule } from 'nest-holdfast';
import { LockControl } from 'nest-holdfast/testing';
import { RedisServer } from '../../../support/servers/redis-server.js';
import { until } from '../../../support/until.js';
import { Deferred } from '../../support/deferred.js';
import { type Order, Recorded } from '../support/recorded-jobs.js';

describe('BullMQ, and an application that closes while a job runs', () => {
  const gate = { opened: Promise.resolve() };
  let redis: RedisServer;

  beforeAll(async () => {
    redis = await RedisServer.shared();
  });
  afterAll(() => redis?.stop());

  @Processor('closing')
  class Closing extends Recorded {
    @DistributedLock('order:<job.data.id>')
    override async process(job: Job<Order>): Promise<string> {
      await gate.opened;
      return this.record(job);
    }
  }

  /** How the job ends, with the modules of the application in this order. */
  const closeWith = async (...modules: ('locks' | 'queues')[]): Promise<Job> => {
    const connection = { host: '127.0.0.1', port: redis.port };
    const control = new LockControl();
    const imports = {
      locks: [DistributedLockModule.forRoot({ store: control.store() })],
      queues: [BullModule.forRoot({ connection }), BullModule.registerQueue({ name: 'closing' })],
    };
    const testing = await Test.createTestingModule({
      imports: modules.flatMap((each): ModuleMetadata['imports'] & object => imports[each]),
      providers: [Closing],
    }).compile();
    const app = await testing.init();
    const opened = new Deferred();
    gate.opened = opened.promise;
    const observer = new Queue<Order>('closing', { connection });
    try {
      const { id } = await observer.add('job', { id: '9' });
      await control.untilHeld('order:9');
      const { worker } = app.get(Closing);
      const closed = app.close();
      await until(() => worker.closing !== undefined || control.held().length === 0);
      opened.resolve();
      await closed;
      return (await observer.getJob(id!))!;
    } finally {
      await observer.close();
    }
  };

  it('lets it finish under its lock, if the locks were imported first', async () => {
    expect(await closeWith('locks', 'queues')).toMatchObject({ returnvalue: 'under order:9' });
  });

  it('takes its lock away, if the queues were', async () => {
    const { failedReason } = await closeWith('queues', 'locks');
    expect(failedReason).toContain('its LockService was closed');
  });
});
