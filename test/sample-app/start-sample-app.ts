import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { INestApplication } from '@nestjs/common';
import { SchedulerRegistry } from '@nestjs/schedule';
import { Test } from '@nestjs/testing';

export interface SampleAppOptions {
  /** Where the stock is. @default a directory of its own, removed with the application */
  readonly stockDirectory?: string;
  /** Where the locks are: at a Redis, or in a file. @default in memory */
  readonly redisUrl?: string;
  readonly sqliteFile?: string;
}

/** The sample app in this process, as it is but for the clock of its cron jobs, which stands still. */
export class SampleApp implements AsyncDisposable {
  private constructor(
    readonly nest: INestApplication,
    private readonly ownDirectory: string | undefined,
  ) {}

  static async start(options: SampleAppOptions = {}): Promise<SampleApp> {
    const { stockDirectory, redisUrl, sqliteFile } = options;
    const own = stockDirectory ? undefined : await mkdtemp(join(tmpdir(), 'holdfast-sample-'));
    process.env['STOCK_DIR'] = stockDirectory ?? own;
    setEnvironment({ REDIS_URL: redisUrl, SQLITE_FILE: sqliteFile });
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

function setEnvironment(values: Readonly<Record<string, string | undefined>>): void {
  for (const [name, value] of Object.entries(values)) {
    if (value) process.env[name] = value;
    else delete process.env[name];
  }
}
