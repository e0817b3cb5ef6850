import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { INestApplication } from '@nestjs/common';
import { SchedulerRegistry } from '@nestjs/schedule';
import { Test } from '@nestjs/testing';

export interface SampleAppOptions {
  /** Where the stock is. @default a directory of its own, removed with the application */
  readonly stockDirectory?: string;
  /** Where the locks are. All applications of one spec file use the first one's. @default in memory */
  readonly redisUrl?: string;
}

/** The sample app in this process, as it is but for the clock of its cron jobs, which stands still. */
export class SampleApp implements AsyncDisposable {
  private constructor(
    readonly nest: INestApplication,
    private readonly ownDirectory: string | undefined,
  ) {}

  static async start({ stockDirectory, redisUrl }: SampleAppOptions = {}): Promise<SampleApp> {
    const own = stockDirectory ? undefined : await mkdtemp(join(tmpdir(), 'holdfast-sample-'));
    process.env['STOCK_DIR'] = stockDirectory ?? own;
    if (redisUrl) process.env['REDIS_URL'] = redisUrl;
    else delete process.env['REDIS_URL'];
    // It reads its settings from the environment while it is loaded.
    const { AppModule } = await import('../../sample-app/app.module.js');
    const module = await Test.createTestingModule({ imports: [AppModule] }).compile();
    const nest = module.createNestApplication({ logger: false });
    await nest.listen(0, '127.0.0.1');
    for (const job of nest.get(SchedulerRegistry).getCronJobs().values()) await job.stop();
    return new SampleApp(nest, own);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.nest.close();
    if (this.ownDirectory) await rm(this.ownDirectory, { recursive: true, force: true });
  }
}
