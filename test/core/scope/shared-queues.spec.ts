import { AsyncLocalStorage, AsyncResource } from 'node:async_hooks';
import Bottleneck from 'bottleneck';
import DataLoader from 'dataloader';
import { promise as fastq } from 'fastq';
import PQueue from 'p-queue';
import { LockDeadlockError, LockService } from 'nest-holdfast/core';
import { until } from '../../support/until';
import { deferred, rejectionOf } from '../support/outcome';
import { inMemory } from '../support/setup';

type Job = () => Promise<unknown>;
type Add = (job: Job) => Promise<unknown>;

/** Queues that a process shares, each with one worker. They run one caller's job in the context of another. */
const QUEUES: Record<string, () => Add> = {
  'p-queue': () => {
    const queue = new PQueue({ concurrency: 1 });
    return (job) => queue.add(job);
  },
  bottleneck: () => {
    const limiter = new Bottleneck({ maxConcurrent: 1 });
    return (job) => limiter.schedule(job);
  },
  fastq: () => {
    const queue = fastq((job: Job) => job(), 1);
    return (job) => queue.push(job);
  },
  dataloader: () => {
    const loader = new DataLoader<Job, unknown>((jobs) => Promise.all(jobs.map((job) => job())), {
      cache: false,
    });
    return (job) => loader.load(job);
  },
};

describe.each(Object.entries(QUEUES))('a job of a shared queue: %s', (_, make) => {
  const request = new AsyncLocalStorage<string>();

  /** Runs a job that B adds while A holds the key and has a job of its own in the queue. */
  async function runJob(locks: LockService, job: Job, add: Add = make()) {
    const [inside, busy, over] = [deferred<void>(), deferred<void>(), deferred<void>()];
    let context: string | undefined;
    let isOutside = true;
    const b = request.run('B', async () => {
      await inside.promise;
      return add(() => {
        context = request.getStore();
        return job();
      });
    });
    b.catch(() => undefined);
    const a = request.run('A', () =>
      locks.withLock('order:1', async () => {
        isOutside = false;
        add(() => busy.promise).catch(() => undefined); // dataloader: a batch fails as a whole
        inside.resolve();
        await over.promise;
        isOutside = true;
      }),
    );
    await inside.promise;
    for (let turn = 0; turn < 20; turn++) await new Promise(setImmediate); // B's job is queued
    busy.resolve();
    await until(() => context !== undefined);
    return { context, a, b, isOutside: () => isOutside, endA: () => over.resolve() };
  }

  it('runs in the context of another, and waits for its lock', async () => {
    const { locks, clock } = inMemory();
    const job = jest.fn(() => Promise.resolve('done'));
    const { context, a, b, isOutside, endA } = await runJob(locks, () =>
      locks.withLock('order:1', job),
    );
    expect(context).toBe('A');
    await clock.advance(900);
    expect(job).not.toHaveBeenCalled();
    job.mockImplementation(() => {
      expect(isOutside()).toBe(true);
      return Promise.resolve('done');
    });
    endA();
    expect(await b).toBe('done');
    await a;
  });

  it('is refused after a second, and told what helps', async () => {
    const { locks, clock } = inMemory();
    const { a, b, endA } = await runJob(locks, () => locks.acquire('order:1'));
    const refused = rejectionOf(b);
    await clock.advance(1_000);
    expect(await refused).toBeInstanceOf(LockDeadlockError);
    endA();
    await a;
  });

  it.each<[string, (locks: LockService, job: Job) => Job]>([
    ['AsyncResource.bind', (_locks, job) => AsyncResource.bind(job)],
    ['locks.outside', (locks, job) => () => locks.outside(job)],
  ])('waits for as long as it likes in a context of its own: %s', async (_remedy, own) => {
    const { locks, clock } = inMemory({ waitTimeout: 60_000 });
    const job = () => locks.withLock('order:1', () => 'done');
    const { a, b, endA } = await runJob(locks, own(locks, job));
    await clock.advance(50_000);
    endA();
    expect(await b).toBe('done');
    await a;
  });

  it('is inside with another, where it asks for it', async () => {
    const { locks } = inMemory();
    const job = () => locks.withLock('order:1', { reentrant: true }, () => 'inside');
    const { a, b, isOutside, endA } = await runJob(locks, job);
    expect([await b, isOutside()]).toEqual(['inside', false]);
    endA();
    await a;
  });
});

it.each(Object.entries(QUEUES))(
  '%s whose worker was started outside runs its jobs in no lock',
  async (_, make) => {
    const { locks, clock } = inMemory({ waitTimeout: 60_000 });
    const add = make();
    const over = deferred<void>();
    const a = locks.withLock('order:1', async () => {
      void locks.outside(() => add(() => over.promise.then(() => undefined)));
      await over.promise;
    });
    await clock.advance(0);
    const b = add(() => locks.withLock('order:1', () => 'done'));
    over.resolve();
    await a;
    expect(await b).toBe('done');
  },
);
