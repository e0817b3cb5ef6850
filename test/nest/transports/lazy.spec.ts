import { Injectable, Module, Scope, type Type } from '@nestjs/common';
import { LazyModuleLoader } from '@nestjs/core';
import { DistributedLock, DistributedLockModule, InjectLocks, LockService } from 'nest-holdfast';
import { openServices, type TransportApp } from './support/transport-app.js';
import { TROUBLES } from './support/troubles.js';

@Injectable()
class Reports {
  @DistributedLock('report:<id>', { waitTimeout: 0 })
  async print(id: string) {
    return `printed ${id}`;
  }
}

@Injectable({ scope: Scope.TRANSIENT })
class PerUse extends Reports {}

@Injectable({ scope: Scope.REQUEST })
class PerRequest extends Reports {}

@Module({ providers: [Reports, PerUse, PerRequest] })
class ReportsModule {}

@Module({
  providers: [
    { provide: 'FACTORY', useFactory: () => new Reports() },
    { provide: 'VALUE', useValue: new Reports() },
  ],
})
class ReadyMadeModule {}

@Injectable()
class Archive {
  constructor(@InjectLocks('archive') readonly locks: LockService) {}

  @DistributedLock('box:<id>', { locks: 'archive' })
  async open(id: string) {
    return `${id} under ${this.locks.current()?.key}`;
  }
}

@Module({
  imports: [DistributedLockModule.forRoot({ name: 'archive' })],
  providers: [Archive],
})
class ArchiveModule {}

describe('a module that is loaded lazily', () => {
  let transport: TransportApp;

  beforeEach(async () => {
    transport = await openServices([]);
  });
  afterEach(() => transport[Symbol.asyncDispose]());

  const load = (module: Type) =>
    transport.get(LazyModuleLoader).load(() => module, { logger: false });
  const providers = { singleton: Reports, transient: PerUse, 'of a request': PerRequest };

  describe.each(Object.entries(providers))('with a provider that is %s', (kind, type) => {
    const reports = async (): Promise<Reports> => {
      const module = await load(ReportsModule);
      return kind === 'singleton' ? module.get(type) : module.resolve(type);
    };

    it('locks with the service of its application', async () => {
      expect(await (await reports()).print('7')).toBe('printed 7');
      expect(transport.log).toEqual(['+report:7', '-report:7']);
    });

    it.each(TROUBLES)('rejects as everywhere: $name', async ({ strike, code }) => {
      strike(transport.control, 'report:7');
      await expect((await reports()).print('7')).rejects.toMatchObject({ code });
    });
  });

  it.each(['FACTORY', 'VALUE'])(
    'says what to do where Nest was handed an instance: %s',
    async (token) => {
      const reports = (await load(ReadyMadeModule)).get<Reports>(token);
      await expect(reports.print('7')).rejects.toThrow(
        /print: this instance has no LockService: .*not loaded lazily/,
      );
    },
  );

  it('may bring an instance of its own, which it has to close itself', async () => {
    const module = await load(ArchiveModule);
    const archive = module.get(Archive);
    expect(await archive.open('1')).toBe('1 under box:1');
    await transport.app.close();
    expect(await archive.open('1')).toBe('1 under box:1');
    await archive.locks.close();
    await expect(archive.open('1')).rejects.toMatchObject({ code: 'LOCK_STORE_FAILED' });
  });
});
