import { Module } from '@nestjs/common';
import {
  Command,
  CommandFactory,
  CommandRunner,
  CommandRunnerService,
  Option,
  SubCommand,
} from 'nest-commander';
import { DistributedLock, DistributedLockModule } from 'nest-holdfast';
import { LockControl } from 'nest-holdfast/testing';
import { ChildProcess } from '../../../support/processes/child-process.js';
import { RedisServer } from '../../../support/servers/redis-server.js';
import { TROUBLES } from '../support/troubles.js';

const ran: string[] = [];

@SubCommand({ name: 'prices', arguments: '<file>' })
class ImportPrices extends CommandRunner {
  @DistributedLock(['import:<passed.0>', 'prices:<options.shop>'], { waitTimeout: 0 })
  override async run(passed: string[], options: { shop: string }): Promise<void> {
    ran.push(`prices of ${options.shop} from ${passed[0]}`);
  }

  @Option({ flags: '--shop <name>', required: true })
  shop(name: string): string {
    return name;
  }
}

@Command({ name: 'import', arguments: '<file>', subCommands: [ImportPrices] })
class Import extends CommandRunner {
  @DistributedLock('import:<passed.0>', { waitTimeout: 0 })
  override async run(passed: string[]): Promise<void> {
    ran.push(`all from ${passed[0]}`);
  }
}

describe('a command of nest-commander', () => {
  const control = new LockControl();

  @Module({
    imports: [DistributedLockModule.forRoot({ store: control.store() })],
    providers: [Import, ImportPrices],
  })
  class AppModule {}

  afterEach(() => {
    control.reset();
    ran.length = 0;
  });

  /** The errors that the service error handler got. */
  const run = async (...words: string[]): Promise<unknown[]> => {
    const errors: Error[] = [];
    const serviceErrorHandler = (error: Error) => void errors.push(error);
    const app = await CommandFactory.createWithoutRunning(AppModule, { serviceErrorHandler });
    await app.get(CommandRunnerService).run(['node', 'cli', ...words]);
    await app.close();
    return errors;
  };

  it('runs under its lock', async () => {
    expect(await run('import', 'a.csv')).toEqual([]);
    expect(ran).toEqual(['all from a.csv']);
  });

  it.each(TROUBLES)(
    'gives the lock’s own error to the service error handler: $name',
    async (trouble) => {
      trouble.strike(control, 'import:a.csv');
      const [error] = await run('import', 'a.csv');
      expect(error).toMatchObject({ code: trouble.code, key: 'import:a.csv' });
      expect(ran).toHaveLength(trouble.hasRun ? 1 : 0);
    },
  );

  it('may be a sub-command, with options in its key', async () => {
    control.busy('prices:acme');
    const words = ['import', 'prices', 'a.csv', '--shop'];
    expect(await run(...words, 'acme')).toMatchObject([{ code: 'LOCK_TIMEOUT' }]);
    expect(await run(...words, 'apex')).toEqual([]);
    expect(ran).toEqual(['prices of apex from a.csv']);
  });
});

describe('two processes that run one command', () => {
  let redis: RedisServer;

  beforeAll(async () => {
    redis = await RedisServer.shared();
  });
  afterAll(() => redis?.stop());

  const start = (onError: 'exit-code' | 'default') =>
    new ChildProcess('test/nest/transports/support/commander.worker.ts', {
      args: ['import', 'a.csv'],
      env: { REDIS_URL: redis.url, ON_ERROR: onError },
    });

  it('run one at a time; the other one exits as its error handler says', async () => {
    await using first = start('default');
    expect(await first.next()).toEqual({ running: 'a.csv' });
    await using second = start('exit-code');
    await using careless = start('default');
    expect(await second.exited).toEqual({ code: 75, signal: null });
    expect(await careless.exited).toEqual({ code: 0, signal: null }); // so nest-commander has it
    for (const { output, messages } of [second, careless]) {
      expect(output).toContain('Lock "import:a.csv" was not acquired');
      expect(messages).toEqual([]);
    }
    first.send('go on');
    expect(await first.exited).toEqual({ code: 0, signal: null });
  });
});
