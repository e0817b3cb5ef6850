import 'reflect-metadata';
import { once } from 'node:events';
import { Module } from '@nestjs/common';
import { Command, CommandFactory, CommandRunner } from 'nest-commander';
import { DistributedLock, DistributedLockModule, LockTimeoutError } from 'nest-holdfast';

/** `import <file>` says that it runs, and ends with the next line of its input. */
@Command({ name: 'import', arguments: '<file>' })
class Import extends CommandRunner {
  @DistributedLock('import:<passed.0>', { waitTimeout: 0 })
  override async run(passed: string[]): Promise<void> {
    process.stdout.write(`${JSON.stringify({ running: passed[0] })}\n`);
    await once(process.stdin, 'data');
    process.stdin.destroy();
  }
}

@Module({
  imports: [DistributedLockModule.forRoot({ redis: process.env.REDIS_URL! })],
  providers: [Import],
})
class AppModule {}

/** BSD's `EX_TEMPFAIL`: the same command may succeed later. */
const TRY_LATER = 75;

function fail(error: Error): void {
  process.stderr.write(`${error.message}\n`);
  process.exitCode = error instanceof LockTimeoutError ? TRY_LATER : 1;
}

void CommandFactory.run(
  AppModule,
  process.env.ON_ERROR === 'exit-code' ? { serviceErrorHandler: fail } : {},
);
