import 'reflect-metadata';
import { openChannel } from '../../processes/worker-channel.js';

/** A job has begun for a tick; or the machine is ready; or it says at its end how often its scheduler called. */
export type TickMessage =
  { readonly job: Job; readonly key: string } | 'ready' | { readonly calls: number };
export type Job = 'cron' | 'interval' | 'long';

const [url, skew, intervalMs] = process.argv.slice(2) as [string, string, string];
skewClock(Number(skew));

/** The clock of this machine is wrong: everything that asks for the time of day is told so. */
function skewClock(by: number): void {
  const RealDate = Date;
  class SkewedDate extends RealDate {
    static override now(): number {
      return RealDate.now() + by;
    }

    constructor(...args: []) {
      super(...((args.length > 0 ? args : [SkewedDate.now()]) as []));
    }
  }
  globalThis.Date = SkewedDate as DateConstructor;
}

/** Loaded after the clock was set: schedulers keep what they know of time. */
async function main(): Promise<void> {
  const { Injectable, Module } = await import('@nestjs/common');
  const { NestFactory } = await import('@nestjs/core');
  const { Cron, Interval, ScheduleModule } = await import('@nestjs/schedule');
  const { CurrentLock, DistributedLockModule } = await import('nest-holdfast');
  const { OncePerTick } = await import('nest-holdfast');
  type Lock = import('nest-holdfast').Lock;

  const channel = openChannel<TickMessage, 'go' | 'close'>();
  const send = (job: Job, lock?: Lock) => channel.send({ job, key: lock!.key });

  let calls = 0;

  @Injectable()
  class Jobs {
    @Cron('* * * * * *')
    count() {
      calls += 1;
    }

    @Cron('* * * * * *')
    @OncePerTick('cron', { tolerance: 10_000 })
    async everySecond(@CurrentLock() lock?: Lock) {
      send('cron', lock);
    }

    @OncePerTick('interval', { tolerance: 10_000 })
    @Interval(Number(intervalMs))
    async interval(@CurrentLock() lock?: Lock) {
      send('interval', lock);
    }

    /** Never ends: a process with a tick works on it until it is killed. */
    @Cron('*/4 * * * * *')
    @OncePerTick('long', { tolerance: 10_000 })
    async long(@CurrentLock() lock?: Lock) {
      send('long', lock);
      await new Promise(() => {});
    }
  }

  @Module({
    imports: [ScheduleModule.forRoot(), DistributedLockModule.forRoot({ redis: url })],
    providers: [Jobs],
  })
  class App {}

  const start = () => NestFactory.createApplicationContext(App, { logger: ['error'] });
  let app: ReturnType<typeof start> | undefined;
  const close = async () => {
    await (await app)?.close();
    channel.send({ calls });
    process.exit(0);
  };
  channel.onMessage((message) => {
    if (message === 'go') app = start();
    else void close();
  });
  channel.send('ready');
}

void main();
